/** A tree that cheerio has built: of XML pages, and of HTML for selectors with jQuery's positions. */

import type { CheerioAPI } from 'cheerio'
import { type CssEngine, createCssEngine } from './css.ts'
import {
  COMMENT,
  type CssQuery,
  DOCTYPE,
  DOCUMENT,
  ELEMENT,
  type NodeReader,
  type PageTree,
  TEXT,
  textWithin,
  type TreeNode,
} from './tree.ts'

/** The parts of cheerio's nodes that are looked at. */
interface CheerioNode {
  readonly type: string
  readonly name?: string
  readonly attribs?: Readonly<Record<string, string>>
  readonly children?: readonly CheerioNode[]
  readonly parent: CheerioNode | null
  readonly data?: string
}

const NONE: readonly TreeNode[] = []

const reader: NodeReader = {
  kindOf(node) {
    const { type } = node as CheerioNode
    if (type === 'text') return TEXT
    if (type === 'comment') return COMMENT
    if (type === 'root' || type === 'cdata') return DOCUMENT
    return type === 'directive' ? DOCTYPE : ELEMENT
  },
  nameOf: (node) => (node as CheerioNode).name ?? '',
  attrsOf: (node) => Object.entries((node as CheerioNode).attribs ?? {}).map(([name, value]) => ({ name, value })),
  childrenOf: (node) => (node as CheerioNode).children ?? NONE,
  parentOf: (node) => (node as CheerioNode).parent,
  dataOf: (node) => (node as CheerioNode).data ?? '',
}

let engine: CssEngine | undefined

export function openCheerioTree($: CheerioAPI): PageTree {
  engine ??= createCssEngine(reader)
  const rootNode = $.root()[0]
  if (rootNode === undefined) throw new Error('a tree without a root')
  const root: TreeNode = rootNode
  const find = ({ css }: CssQuery, scope: TreeNode) => (scope === root ? $(css) : $(scope as never).find(css))
  const all = (query: CssQuery, scope: TreeNode = root): readonly TreeNode[] => {
    // in a row, `:scope` is the row: cheerio has that for what is inside it only
    if (query.isRelative && !query.hasPositions) return engine?.all(query, scope) ?? []
    return find(query, scope).get() as readonly TreeNode[]
  }
  return {
    root,
    reader,
    complete: () => undefined,
    first: (query, scope = root) =>
      query.isRelative || query.hasPositions ? all(query, scope)[0] : find(query, scope)[0],
    all,
    textOf: (node) => textWithin(node, reader),
    attrOf: (node, name) => $(node as never).attr(name),
    htmlOf: (node) => $(node as never).html() ?? '',
  }
}
