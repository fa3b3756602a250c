/** How a report looks: light and dark as the reader has it, and on paper. */

import { createHash } from 'node:crypto'

export const REPORT_STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--line:#d1d9e0;--back:#fff;--card:#f6f8fa;--link:#0550ae;--bar:#2da44e}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#3d444d;--back:#0d1117;--card:#151b23;--link:#79b8ff;--bar:#3fb950}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:72rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}small{color:var(--soft);font-weight:400}
header p,.more,.note{color:var(--soft)}.note{border-left:4px solid var(--bar);padding:.5rem 1rem;background:var(--card)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.75rem;margin:1.5rem 0}
.facts div{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.5rem .75rem}
dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.4rem;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{color:var(--soft);font-weight:500;font-size:.85rem}td:not(:last-child),th{min-width:4rem}
.short{white-space:nowrap;width:1%;padding-right:1.5rem}.number{text-align:right;font-variant-numeric:tabular-nums;width:6rem}.bar{width:40%}meter{width:100%;height:.9rem}
a{color:var(--link)}
@media print{:root{--ink:#000;--soft:#444;--line:#bbb;--back:#fff;--card:#fff;--link:#000}body{max-width:none;padding:0}tr{break-inside:avoid}h2{break-after:avoid}}
`

/** The one style that the page's policy lets in. */
export const REPORT_STYLE_HASH = `sha256-${createHash('sha256').update(REPORT_STYLE).digest('base64')}`
