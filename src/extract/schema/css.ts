/** CSS selectors over any tree: compiled once, with what must be known of them. */

import type * as CssSelect from 'css-select'
import type { Selector } from 'css-what'
import type * as CssWhat from 'css-what'
import { loadLate } from '../../util/load-late.ts'
import { type CssQuery, DOCUMENT, ELEMENT, type NodeReader, pushReversed, TEXT, type TreeNode } from './tree.ts'

const cssSelect = loadLate<typeof CssSelect>('css-select')
const cssWhat = loadLate<typeof CssWhat>('css-what')

/** As cheerio has them. */
const POSITIONS: ReadonlySet<string> = new Set(['first', 'last', 'eq', 'gt', 'nth', 'lt', 'even', 'odd'])
/** Pseudo-classes that look at an element and at what is before it. */
const BACKWARD: ReadonlySet<string> = new Set([
  'first-child',
  'nth-child',
  'first-of-type',
  'nth-of-type',
  'is',
  'where',
])
/** Their attributes may come late in a page. */
const LATE_ELEMENTS: ReadonlySet<string> = new Set(['html', 'body', 'frameset'])
const COMBINATORS: ReadonlySet<string> = new Set(['child', 'descendant', 'adjacent', 'sibling'])

/** Throws an Error that says what is wrong with the selector. */
export function compileCss(css: string): CssQuery {
  const groups = cssWhat().parse(css)
  for (const group of groups) refuseSlips(group, css)
  const query: CssQuery = {
    css,
    isRelative: groups.some((group) => COMBINATORS.has(group[0]?.type ?? '') || group.some(isScope)),
    looksBackOnly: groups.every((group) => group.every(looksBack)),
    hasPositions: some(groups, (part) => part.type === 'pseudo' && POSITIONS.has(part.name)),
  }
  // some mistakes show only when it is compiled
  if (!query.hasPositions) cssSelect().compile(css)
  return query
}

/** Slips that the parser lets through and that then fit nothing, ever. */
function refuseSlips(group: readonly Selector[], css: string): void {
  if (COMBINATORS.has(group.at(-1)?.type ?? '')) throw new Error('nothing stands behind the last combinator')
  for (const part of group) {
    // `.\.x` is a class with an odd name, `..x` is not
    if (part.type === 'attribute' && part.name === 'class' && part.value.startsWith('.') && css.includes('..'))
      throw new Error('two dots stand side by side')
  }
}

function isScope(part: Selector): boolean {
  return part.type === 'pseudo' && (part.name === 'scope' || nested(part).some((group) => group.some(isScope)))
}

function nested(part: Selector): readonly Selector[][] {
  return (part.type === 'pseudo' || part.type === 'pseudo-element') && Array.isArray(part.data) ? part.data : []
}

function some(groups: readonly Selector[][], test: (part: Selector) => boolean): boolean {
  return groups.some((group) => group.some((part) => test(part) || some(nested(part), test)))
}

function looksBack(part: Selector): boolean {
  if (part.type === 'tag') return !LATE_ELEMENTS.has(part.name.toLowerCase())
  if (part.type !== 'pseudo') return part.type !== 'parent' && part.type !== 'column-combinator'
  return (
    BACKWARD.has(part.name) &&
    !/\bof\b/.test(String(part.data)) &&
    nested(part).every((group) => group.every(looksBack))
  )
}

type Adapter = NonNullable<CssSelect.Options<TreeNode, TreeNode>['adapter']>
type Compiled = ReturnType<typeof CssSelect.compile<TreeNode, TreeNode>>

export interface CssEngine {
  first(query: CssQuery, scope: TreeNode): TreeNode | undefined
  all(query: CssQuery, scope: TreeNode): readonly TreeNode[]
}

/** One for each kind of tree; compiled selectors are kept, 1,000 at the most. */
export function createCssEngine(reader: NodeReader): CssEngine {
  const adapter = createAdapter(reader)
  const rowAdapter = createAdapter(withoutTemplates(reader))
  const adapterFor = (scope: TreeNode): Adapter => {
    const parent = reader.parentOf(scope)
    return parent !== null && reader.kindOf(parent) === ELEMENT ? rowAdapter : adapter
  }
  const compiled = new Map<string, Compiled>()
  const compile = ({ css }: CssQuery): Compiled => {
    let query = compiled.get(css)
    if (query === undefined) {
      query = cssSelect().compile<TreeNode, TreeNode>(css, { adapter })
      if (compiled.size >= MAX_COMPILED) compiled.clear()
      compiled.set(css, query)
    }
    return query
  }
  return {
    first(query, scope) {
      const { selectOne } = cssSelect()
      if (query.isRelative) return selectOne(query.css, [scope], { adapter, context: [scope] }) ?? undefined
      return selectOne(compile(query), scope, { adapter: adapterFor(scope) }) ?? undefined
    },
    // a relative selector may mean the element itself (`:scope`) or what stands beside it
    all(query, scope) {
      const { selectAll } = cssSelect()
      if (query.isRelative) return selectAll(query.css, [scope], { adapter, context: [scope] })
      return selectAll(compile(query), scope, { adapter: adapterFor(scope) })
    },
  }
}

const MAX_COMPILED = 1000

/** What a template in a row holds is no part of the row, as `$(row).find` has it. */
function withoutTemplates(reader: NodeReader): NodeReader {
  return {
    ...reader,
    childrenOf: (node) => reader.childrenOf(node).filter((child) => reader.kindOf(child) !== DOCUMENT),
  }
}

function createAdapter(reader: NodeReader): Adapter {
  const isTag = (node: TreeNode): node is TreeNode => reader.kindOf(node) === ELEMENT
  const getAttributeValue = (node: TreeNode, name: string): string | undefined =>
    reader.attrsOf(node).find((attr) => attr.name === name)?.value
  return {
    isTag,
    getAttributeValue,
    hasAttrib: (node, name) => getAttributeValue(node, name) !== undefined,
    getChildren: (node) => reader.childrenOf(node) as TreeNode[],
    getName: (node) => reader.nameOf(node),
    getParent: (node) => reader.parentOf(node),
    getSiblings: (node) => {
      const parent = reader.parentOf(node)
      return parent === null ? [node] : (reader.childrenOf(parent) as TreeNode[])
    },
    getText: (node) => containedText(reader, node),
    existsOne: (test, nodes) => walk(reader, nodes, test, 1).length > 0,
    findAll: (test, nodes) => walk(reader, nodes, test, Number.POSITIVE_INFINITY),
    findOne: (test, nodes) => walk(reader, nodes, test, 1)[0] ?? null,
    removeSubsets: (nodes) => withoutSubsets(reader, nodes),
  }
}

/** Elements among the nodes and inside them, in document order. */
// oxlint-disable-next-line max-params -- of one loop
function walk(
  reader: NodeReader,
  nodes: readonly TreeNode[],
  test: (node: TreeNode) => boolean,
  max: number,
): TreeNode[] {
  const found: TreeNode[] = []
  const stack: TreeNode[] = []
  pushReversed(stack, nodes)
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (reader.kindOf(node) === ELEMENT && test(node)) {
      found.push(node)
      if (found.length >= max) return found
    }
    pushReversed(stack, reader.childrenOf(node))
  }
  return found
}

/** What `:contains` looks at, as in cheerio: a line break for `br`, nothing of what a template holds. */
function containedText(reader: NodeReader, node: TreeNode): string {
  const parts: string[] = []
  const stack = [node]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const kind = reader.kindOf(next)
    if (kind === TEXT) parts.push(reader.dataOf(next))
    else if (kind === ELEMENT && reader.nameOf(next) === 'br') parts.push('\n')
    else if (kind === ELEMENT) pushReversed(stack, reader.childrenOf(next))
  }
  return parts.join('')
}

function withoutSubsets(reader: NodeReader, nodes: readonly TreeNode[]): TreeNode[] {
  const all = new Set(nodes)
  return [...all].filter((node) => {
    for (let parent = reader.parentOf(node); parent !== null; parent = reader.parentOf(parent)) {
      if (all.has(parent)) return false
    }
    return true
  })
}
