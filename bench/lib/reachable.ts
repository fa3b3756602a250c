/** What can be reached in a folder of HTML pages over `<a href>`, by the HTML standard's own tree: the truth of a site. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'parse5'
import type { DefaultTreeAdapterTypes } from 'parse5'

const ORIGIN = 'http://site.test'

/** The paths (with query) of the pages that a server of this folder would answer with 200 and text/html. */
export function pagesReachableFrom(root: string, seedPath: string): readonly string[] {
  const seen = new Set([seedPath])
  const waiting = [seedPath]
  const pages: string[] = []
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const found = answerOf(root, path)
    if (found.html !== undefined) pages.push(path)
    for (const target of found.redirect === undefined ? linksOf(found.html ?? '', path) : [found.redirect]) {
      if (seen.has(target)) continue
      seen.add(target)
      waiting.push(target)
    }
  }
  return pages
}

interface Answer {
  readonly html?: string
  readonly redirect?: string
}

function answerOf(root: string, path: string): Answer {
  const file = join(root, decodeURIComponent(path.split('?')[0] ?? path))
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
  if (isFolder && !path.endsWith('/')) return { redirect: `${path}/` }
  const page = isFolder ? join(file, 'index.html') : file
  if (!page.endsWith('.html') || statSync(page, { throwIfNoEntry: false })?.isFile() !== true) return {}
  return { html: readFileSync(page, 'utf8') }
}

function linksOf(html: string, path: string): readonly string[] {
  const links: string[] = []
  let base = ORIGIN + path
  const take = (name: string, href: string): void => {
    if (!URL.canParse(href, base)) return
    const target = new URL(href, base)
    if (name === 'base') base = target.href
    else if (name === 'a' && target.origin === ORIGIN) links.push(target.pathname + target.search)
  }
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    const href = 'attrs' in node ? node.attrs.find(({ name }) => name === 'href')?.value : undefined
    if (href !== undefined) take(node.nodeName, href)
    if ('childNodes' in node) for (const child of node.childNodes) visit(child)
    if ('content' in node) visit(node.content)
  }
  visit(parse(html))
  return links
}
