/** Options of what comes out and of where it is kept. */

import { choice, duration, list, optionalText, size, text, toggle } from '../option-row.ts'
import { parseFileField, parsePart, parseSelect, parseText, parseToken, parseStoreUrl } from '../parse.ts'
import { STORE_URLS } from '../store-url.ts'
import { CRAWL, STORED } from './commands.ts'

const OUTPUT_FORMATS = ['jsonl', 'csv', 'sqlite', 'parquet', 'dot', 'graphml', 'nodes.csv', 'svg', 'html'] as const
const WRITES_ITEMS = ['crawl', 'run', 'export', 'demo'] as const

export const RESULTS = {
  output: text({
    flag: 'output',
    short: 'o',
    placeholder: 'FILE',
    default: undefined,
    group: 'Results',
    on: [...WRITES_ITEMS, 'graph', 'report'],
    doc: 'Write the items to a .jsonl, .csv, .sqlite or .parquet file, the graph to .dot, .graphml, .csv, .svg or .html, the report to .html; `-` is stdout.',
  }),
  format: choice({
    flag: 'format',
    choices: OUTPUT_FORMATS,
    default: undefined,
    defaultText: "told by the file's ending",
    group: 'Results',
    on: [...WRITES_ITEMS, 'graph'],
    doc: 'Format of the output: jsonl, csv, sqlite and parquet are those of items; dot, graphml, csv (of links), nodes.csv, svg and html those of `spoor graph`.',
  }),
  outputRotate: text({
    flag: 'output-rotate',
    placeholder: 'SIZE|N',
    default: undefined,
    parse: parsePart,
    group: 'Results',
    on: ['crawl', 'run', 'export', 'demo'],
    doc: 'Write the output in parts, items-00001.jsonl and so on: of so many items (10000), or of so many bytes as JSON Lines (100mb).',
  }),
  select: list({
    flag: 'select',
    placeholder: "'NAME=CSS[@ATTR]'",
    parse: parseSelect,
    group: 'Results',
    on: CRAWL,
    doc: "Extract a field into the page's item: the text of the first element, or one of its attributes. `NAME[]=` takes all, `NAME as number=` converts; instead of CSS also xpath:, re:, json:, jsonld:, microdata:, metatag:, opengraph:, readable:.",
  }),
  downloads: list({
    flag: 'download',
    placeholder: "'CSS@ATTR'",
    parse: parseFileField,
    group: 'Results',
    on: CRAWL,
    doc: "Keep the files whose URLs stand there ('img@src') in the data folder, once each, with an item that tells path, sha256 and size; from any host.",
  }),
  maxDownloadBytes: size({
    flag: 'max-download',
    default: undefined,
    min: 1,
    defaultText: 'that of --max-body',
    group: 'Results',
    on: CRAWL,
    doc: 'Largest file that --download keeps.',
  }),
  graph: toggle({
    flag: 'graph',
    default: false,
    group: 'Results',
    on: [...CRAWL, 'demo'],
    doc: 'Keep every link of every page, with its text and rel, for `spoor graph` and `spoor report`. Embedded store only.',
  }),
  stats: toggle({
    flag: 'stats',
    default: false,
    group: 'Results',
    on: ['graph'],
    doc: 'Tell the figures of the graph instead of writing it: what is linked most, broken links and where they are, orphans, depths, redirects.',
  }),
  dashboard: optionalText({
    flag: 'dashboard',
    placeholder: 'HOST:PORT',
    parse: parseText,
    group: 'Results',
    on: [...CRAWL, 'demo'],
    doc: 'Serve a live dashboard, at 127.0.0.1:4949 when nothing is said; any address but loopback asks for a token.',
  }),
  dashboardToken: text({
    flag: 'dashboard-token',
    secret: true,
    placeholder: 'TOKEN',
    default: undefined,
    defaultText: 'none on loopback; elsewhere a new one, which is printed',
    parse: parseToken,
    group: 'Results',
    on: [...CRAWL, 'demo', 'dashboard'],
    doc: 'What the dashboard asks for before it shows anything; SPOOR_DASHBOARD_TOKEN keeps it out of the list of processes.',
  }),
  okWithFailures: toggle({
    flag: 'ok-with-failures',
    default: false,
    group: 'Results',
    on: CRAWL,
    doc: 'Exit with 0 also when pages failed.',
  }),
} as const

export const STORE = {
  dir: text({
    flag: 'dir',
    placeholder: 'DIR',
    default: 'spoor-data',
    group: 'Where it is kept',
    on: [...STORED, 'cache', 'fetch', 'shell', 'doctor', 'demo'],
    doc: 'The data folder: the state of the crawl, its items and the download cache. `spoor fetch` uses the cache only when it, or --store, is given.',
  }),
  store: text({
    flag: 'store',
    placeholder: 'URL',
    default: undefined,
    defaultText: 'embedded, in --dir',
    parse: parseStoreUrl,
    group: 'Where it is kept',
    on: [...STORED, 'cache', 'fetch', 'shell', 'doctor'],
    doc: `A shared store instead (${STORE_URLS}): any number of machines run the same command.`,
  }),
  task: text({
    flag: 'task',
    placeholder: 'NAME',
    default: 'default',
    group: 'Where it is kept',
    on: STORED,
    doc: 'Name of the crawl inside the store.',
  }),
  waitForRoomMs: duration({
    flag: 'wait-for-room',
    default: 86_400_000,
    max: 31_536_000_000,
    group: 'Where it is kept',
    on: CRAWL,
    doc: 'How long a crawl waits when the disk is full, and goes on by itself when there is room; 0 ends it at once, with status 3.',
  }),
  // long enough for a slow page, short enough that what a dead machine held comes back soon; renewed while work goes on
  leaseMs: duration({
    flag: 'lease',
    default: 60_000,
    min: 1000,
    max: 86_400_000,
    group: 'Where it is kept',
    on: CRAWL,
    doc: 'How long what a dead or cut off machine held stays with it; kept up while it works.',
  }),
} as const
