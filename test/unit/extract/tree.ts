/** The referee of these tests: links, base and title of a page as they stand in a parse5 tree, scripting off. */

import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5'

const HTML = 'http://www.w3.org/1999/xhtml'
const SVG = 'http://www.w3.org/2000/svg'
const LINK_RELS = new Set(['next', 'prev', 'previous', 'alternate', 'canonical'])

export interface TreeScan {
  readonly base: string
  readonly title: string
  /** `tag url`, each once, sorted. */
  readonly links: readonly string[]
}

export function scanTree(html: string, url: string): TreeScan {
  const elements = elementsOf(parse(html, { scriptingEnabled: false }))
  const named = (name: string): Tree.Element[] =>
    elements.filter((el) => el.tagName === name && el.namespaceURI === HTML)
  const base = baseOf(
    named('base').find((el) => attribute(el, 'href') !== undefined),
    url,
  )
  const title = named('title')[0]
  const text = title?.childNodes.map((node) => ('value' in node ? node.value : '')).join('') ?? ''
  const links = elements.flatMap((el) => {
    const href = hrefOf(el)
    const absolute = href === undefined ? undefined : resolve(href, base)
    return absolute === undefined ? [] : [`${el.tagName} ${absolute}`]
  })
  return { base, title: text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, ''), links: sortedSet(links) }
}

export function sortedSet(links: readonly string[]): string[] {
  return [...new Set(links)].toSorted()
}

function elementsOf(root: Tree.Node): Tree.Element[] {
  const found: Tree.Element[] = []
  const open: Tree.Node[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('tagName' in node) found.push(node)
    if ('childNodes' in node) open.push(...node.childNodes.toReversed())
  }
  return found
}

function attribute(el: Tree.Element, name: string): string | undefined {
  return el.attrs.find((attr) => attr.name === name && attr.prefix === undefined)?.value
}

function hrefOf(el: Tree.Element): string | undefined {
  if (el.namespaceURI !== HTML) return el.tagName === 'a' ? drawnHrefOf(el) : undefined
  switch (el.tagName) {
    case 'a':
    case 'area':
      return attribute(el, 'href')
    case 'iframe':
    case 'frame':
      return attribute(el, 'src')
    case 'link':
      return leadsOn(attribute(el, 'rel') ?? '') ? attribute(el, 'href') : undefined
    default:
      return undefined
  }
}

function drawnHrefOf(el: Tree.Element): string | undefined {
  const xlink = el.attrs.find((attr) => attr.prefix === 'xlink' && attr.name === 'href')?.value
  return attribute(el, 'href') ?? (el.namespaceURI === SVG ? xlink : undefined)
}

function leadsOn(rel: string): boolean {
  const words = rel.toLowerCase().split(/[\s,]+/)
  return words.some((word) => LINK_RELS.has(word)) && !words.includes('stylesheet')
}

function baseOf(el: Tree.Element | undefined, url: string): string {
  return (el === undefined ? undefined : resolve(attribute(el, 'href') ?? '', url)) ?? url
}

function resolve(href: string, base: string): string | undefined {
  if (!URL.canParse(href, base)) return undefined
  const url = new URL(href, base)
  url.hash = ''
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined
}
