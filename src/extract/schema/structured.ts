/** Data that pages carry for machines: JSON-LD, microdata, OpenGraph and other meta elements. */

import type { JsonObject, JsonValue } from '../../core/json.ts'
import { foldSpace } from '../text.ts'
import { parseJson } from './convert.ts'
import { compileCss } from './css.ts'
import { type CssQuery, ELEMENT, type PageTree, type TreeNode } from './tree.ts'

const queries = new Map<string, CssQuery>()

function query(css: string): CssQuery {
  let compiled = queries.get(css)
  if (compiled === undefined) {
    compiled = compileCss(css)
    queries.set(css, compiled)
  }
  return compiled
}

/** Objects deeper than this are not looked into. */
const MAX_DEPTH = 64

/** Objects of all blocks, those of `@graph` and nested ones too, in the order of the page; broken blocks are passed over. */
export function jsonLdOf(tree: PageTree): readonly JsonObject[] {
  const found: JsonObject[] = []
  for (const script of tree.all(query('script[type="application/ld+json" i]'))) {
    const text = tree.textOf(script).trim()
    // some write it as a comment or a CDATA section, for readers of old
    const value =
      parseJson(text) ??
      parseJson(text.replace(/^(?:<!--|\/\*|\/\/|<!\[CDATA\[|\s)+|(?:-->|\*\/|\/\/|\]\]>|\s)+$/g, ''))
    if (value !== undefined) collectObjects(value, found, 0)
  }
  return found
}

function collectObjects(value: JsonValue | undefined, found: JsonObject[], depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  if (Array.isArray(value)) {
    for (const one of value as readonly JsonValue[]) collectObjects(one, found, depth + 1)
    return
  }
  const object = value as JsonObject
  if (object['@type'] !== undefined) found.push(object)
  for (const inner of Object.values(object)) collectObjects(inner, found, depth + 1)
}

/** Is it of this type? `*` is any; a type is told by its last part, in any case. */
export function isOfType(object: JsonObject, type: string): boolean {
  if (type === '*') return true
  const types = Array.isArray(object['@type']) ? (object['@type'] as readonly JsonValue[]) : [object['@type']]
  return types.some((one) => typeof one === 'string' && lastPart(one) === type.toLowerCase())
}

function lastPart(type: string): string {
  return (/[^/#:]*$/.exec(type.replace(/[/#]+$/, ''))?.[0] ?? '').toLowerCase()
}

/** Items that are no part of others, in the shape of JSON-LD: one value as it is, several as a list. */
export function microdataOf(tree: PageTree, baseUrl: string): readonly JsonObject[] {
  return tree.all(query('[itemscope]:not([itemprop])')).map((node) => itemOf(tree, node, { baseUrl, depth: 0 }))
}

interface ItemPlace {
  readonly baseUrl: string
  readonly depth: number
}

function itemOf(tree: PageTree, item: TreeNode, place: ItemPlace): JsonObject {
  const properties = new Map<string, JsonValue[]>()
  const type = tree.attrOf(item, 'itemtype')?.trim().split(/\s+/)[0]
  const id = tree.attrOf(item, 'itemid')
  for (const node of propertiesOf(tree, item)) {
    const names = tree.attrOf(node, 'itemprop')?.trim().split(/\s+/) ?? []
    const value = propertyValue(tree, node, place)
    for (const name of names) if (name !== '') properties.set(name, [...(properties.get(name) ?? []), value])
  }
  return Object.fromEntries([
    ...(type === undefined ? [] : [['@type', type] as const]),
    ...(id === undefined ? [] : [['@id', id] as const]),
    ...[...properties].map(([name, values]) => [name, values.length === 1 ? values[0] : values] as const),
  ])
}

/** Elements with `itemprop` inside the item, not those inside items within it; those that `itemref` names too. */
function propertiesOf(tree: PageTree, item: TreeNode): readonly TreeNode[] {
  const { reader } = tree
  const found: TreeNode[] = []
  const seen = new Set<TreeNode>([item])
  const stack = [...referred(tree, item), ...reader.childrenOf(item)].toReversed()
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (reader.kindOf(node) !== ELEMENT || seen.has(node)) continue
    seen.add(node)
    if (tree.attrOf(node, 'itemprop') !== undefined) found.push(node)
    if (tree.attrOf(node, 'itemscope') === undefined) stack.push(...reader.childrenOf(node).toReversed())
  }
  return found
}

const MAX_REFERENCES = 100

function referred(tree: PageTree, item: TreeNode): readonly TreeNode[] {
  const ids = tree.attrOf(item, 'itemref')?.trim().split(/\s+/).slice(0, MAX_REFERENCES) ?? []
  if (ids.length === 0) return []
  const wanted = new Set(ids)
  return tree.all(query('[id]')).filter((node) => wanted.has(tree.attrOf(node, 'id') ?? ''))
}

const URL_ATTRIBUTES: Readonly<Record<string, string>> = {
  a: 'href',
  area: 'href',
  link: 'href',
  audio: 'src',
  embed: 'src',
  iframe: 'src',
  img: 'src',
  source: 'src',
  track: 'src',
  video: 'src',
  object: 'data',
}

/** By the table of the HTML standard (5.2.4). */
function propertyValue(tree: PageTree, node: TreeNode, place: ItemPlace): JsonValue {
  if (tree.attrOf(node, 'itemscope') !== undefined) {
    return place.depth < MAX_DEPTH ? itemOf(tree, node, { ...place, depth: place.depth + 1 }) : null
  }
  const content = tree.attrOf(node, 'content')
  return content ?? attributeValue(tree, node, place.baseUrl) ?? foldSpace(tree.textOf(node))
}

/** Of elements that say what they mean in an attribute. */
function attributeValue(tree: PageTree, node: TreeNode, baseUrl: string): string | undefined {
  const name = tree.reader.nameOf(node)
  if (name === 'data' || name === 'meter') return tree.attrOf(node, 'value') ?? ''
  if (name === 'time') return tree.attrOf(node, 'datetime')
  if (!Object.hasOwn(URL_ATTRIBUTES, name)) return undefined
  const value = tree.attrOf(node, URL_ATTRIBUTES[name] ?? '') ?? ''
  return URL.canParse(value, baseUrl) ? new URL(value, baseUrl).href : value
}

/** Contents of the meta elements with this name or property, in any case. */
export function metaOf(tree: PageTree, name: string): readonly string[] {
  const wanted = name.toLowerCase()
  return tree.all(query('meta[content]')).flatMap((node) => {
    const names = [tree.attrOf(node, 'property'), tree.attrOf(node, 'name'), tree.attrOf(node, 'itemprop')]
    return names.some((one) => one?.trim().toLowerCase() === wanted) ? [tree.attrOf(node, 'content') ?? ''] : []
  })
}

/** Undefined: the page has none. */
export function openGraphOf(tree: PageTree): JsonObject | undefined {
  const found = new Map<string, string[]>()
  for (const node of tree.all(query('meta[content]'))) {
    const name = (tree.attrOf(node, 'property') ?? tree.attrOf(node, 'name'))?.trim().toLowerCase()
    if (name?.startsWith('og:') !== true) continue
    const key = name.slice(3)
    found.set(key, [...(found.get(key) ?? []), tree.attrOf(node, 'content') ?? ''])
  }
  if (found.size === 0) return undefined
  return Object.fromEntries([...found].map(([key, values]) => [key, values.length === 1 ? (values[0] ?? '') : values]))
}
