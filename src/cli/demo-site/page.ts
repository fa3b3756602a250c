/** The frame of a page of the demo site: head, navigation, footer. */

import { paragraphs } from './words.ts'

export interface PageParts {
  readonly title: string
  /** Path of the page, for its canonical link. */
  readonly path: string
  readonly body: string
  /** More of the head. */
  readonly head?: string
}

const NAVIGATION = [
  ['/', 'Home'],
  ['/shop/', 'Shop'],
  ['/blog/', 'Blog'],
  ['/docs/', 'Handbook'],
  ['/about', 'About'],
] as const

export function page({ title, path, body, head = '' }: PageParts): string {
  const links = NAVIGATION.map(([href, text]) => `<li><a href="${href}">${text}</a></li>`).join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)} · Fern &amp; Flint</title>
<meta name="description" content="${escapeHtml(title)}: gear and know-how for slow travel.">
<link rel="canonical" href="${escapeHtml(path)}">
<link rel="stylesheet" href="/assets/site.css">
${head}</head>
<body>
<header><p><a href="/">Fern &amp; Flint</a></p><nav><ul>${links}</ul></nav></header>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
<footer><p><a href="/account/login" rel="nofollow">Sign in</a> · <a href="/cart?add=1" rel="nofollow">Basket</a> · <a href="/about#contact">Contact</a></p>
<script>document.write('<a href="/not-a-link">' + 'scripts are not run' + '</a>')</script>
</footer>
</body>
</html>
`
}

export const prose = (seed: number, count: number): string =>
  paragraphs(seed, count)
    .map((text) => `<p>${escapeHtml(text)}</p>`)
    .join('\n')

export function listOf(links: readonly (readonly [href: string, text: string])[]): string {
  return `<ul>\n${links.map(([href, text]) => `<li><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></li>`).join('\n')}\n</ul>`
}

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
