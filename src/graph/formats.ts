/** The link graph as files that other programs read: DOT, GraphML and CSV, written as they are read. */

import type { GraphTextFormat, GraphNode, GraphSource, StoredLink } from './contract.ts'

/** Pieces of the file. */
export function formatGraph(source: GraphSource, format: GraphTextFormat): AsyncIterable<string> {
  return WRITERS[format](source)
}

const WRITERS: Readonly<Record<GraphTextFormat, (source: GraphSource) => AsyncIterable<string>>> = {
  dot: formatDot,
  graphml: formatGraphml,
  csv: formatEdges,
  'nodes.csv': formatNodes,
}

async function* formatDot(source: GraphSource): AsyncGenerator<string> {
  yield `digraph ${dotText(source.task)} {\n`
  for await (const { id, url, ...node } of source.nodes()) {
    const facts = { label: url, URL: url, state: node.state, host: node.host, ...numbersOf(node), class: classOf(node) }
    yield `  n${id} [${dotFacts(facts)}];\n`
  }
  for await (const { page, links } of source.pages())
    for (const { target, text, rel, kind } of links)
      yield `  n${page} -> n${target} [${dotFacts({ label: text, rel, kind })}];\n`
  yield '}\n'
}

function dotFacts(facts: Readonly<Record<string, string | number>>): string {
  return Object.entries(facts)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${dotText(String(value))}`)
    .join(', ')
}

/** A backslash begins an escape there, and a line must not end inside. */
function dotText(text: string): string {
  return `"${withoutControls(text)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)}"`
}

const NODE_KEYS = ['url', 'host', 'state', 'reason'] as const
const NODE_NUMBERS = ['status', 'depth'] as const
const EDGE_KEYS = ['text', 'rel', 'kind'] as const

async function* formatGraphml(source: GraphSource): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
  for (const key of NODE_KEYS) yield `<key id="${key}" for="node" attr.name="${key}" attr.type="string"/>\n`
  for (const key of NODE_NUMBERS) yield `<key id="${key}" for="node" attr.name="${key}" attr.type="int"/>\n`
  for (const key of EDGE_KEYS) yield `<key id="${key}" for="edge" attr.name="${key}" attr.type="string"/>\n`
  yield `<graph id="${xmlText(source.task)}" edgedefault="directed">\n`
  for await (const node of source.nodes())
    yield `<node id="n${node.id}">${xmlData(node, [...NODE_KEYS, ...NODE_NUMBERS])}</node>\n`
  for await (const { page, links } of source.pages())
    for (const link of links)
      yield `<edge source="n${page}" target="n${link.target}">${xmlData(link, EDGE_KEYS)}</edge>\n`
  yield '</graph>\n</graphml>\n'
}

function xmlData<K extends string>(facts: { readonly [P in K]?: string | number }, keys: readonly K[]): string {
  return keys
    .filter((key) => facts[key] !== undefined && facts[key] !== '')
    .map((key) => `<data key="${key}">${xmlText(String(facts[key]))}</data>`)
    .join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For XML and HTML, in elements and in quoted attributes. What XML cannot hold is a blank. */
export function xmlText(text: string): string {
  return withoutControls(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

// oxlint-disable-next-line no-control-regex -- control characters are what it takes out
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/g

const withoutControls = (text: string): string => text.replaceAll(CONTROLS, ' ')

/** A line a link, with URLs: they are kept in memory for it. */
async function* formatEdges(source: GraphSource): AsyncGenerator<string> {
  const urls = new Map<string, string>()
  for await (const { id, url } of source.nodes()) urls.set(id, url)
  yield 'source,target,kind,rel,text\n'
  const lineOf = (page: string, { target, kind, rel, text }: StoredLink): string =>
    csvLine([urls.get(page), urls.get(target), kind, rel, text])
  for await (const { page, links } of source.pages()) for (const link of links) yield lineOf(page, link)
}

async function* formatNodes(source: GraphSource): AsyncGenerator<string> {
  yield 'id,url,host,state,reason,status,depth,parent,final_url,alias_of\n'
  for await (const node of source.nodes()) {
    const { id, url, host, state, reason, status, depth, parentUrl, finalUrl, aliasOf } = node
    yield csvLine([id, url, host, state, reason, status, depth, parentUrl, finalUrl, aliasOf])
  }
}

/** RFC 4180. */
function csvLine(cells: readonly (string | number | undefined)[]): string {
  const line = cells.map((cell = '') =>
    /["\r\n,]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell),
  )
  return `${line.join(',')}\n`
}

function numbersOf({ status, depth }: Pick<GraphNode, 'status' | 'depth'>): Readonly<Record<string, number>> {
  return { ...(status === undefined ? {} : { status }), ...(depth === undefined ? {} : { depth }) }
}

/** What a picture colours a node by. */
export type NodeClass = 'ok' | 'redirected' | 'failed' | 'skipped' | 'waiting' | 'unmet'

export function classOf({ state, finalUrl, reason }: Pick<GraphNode, 'state' | 'finalUrl' | 'reason'>): NodeClass {
  if (state === 'done') return finalUrl === undefined ? 'ok' : 'redirected'
  if (state === 'failed' || state === 'unmet') return state
  if (state === 'skipped') return reason === 'duplicate' ? 'redirected' : 'skipped'
  return 'waiting'
}
