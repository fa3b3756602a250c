/** What extraction needs of a tree of a page, whichever library has built it. */

/** An element or another node; only its tree looks into it. */
export type TreeNode = object

export interface PageTree {
  /** The document. */
  readonly root: TreeNode
  /** The first element inside `scope` that fits, in document order. */
  first(css: CssQuery, scope?: TreeNode): TreeNode | undefined
  all(css: CssQuery, scope?: TreeNode): readonly TreeNode[]
  /** Of the element and all in it, as it is. */
  textOf(node: TreeNode): string
  attrOf(node: TreeNode, name: string): string | undefined
  /** Markup inside the element. */
  htmlOf(node: TreeNode): string
  /** Nothing of the page is left out any more. */
  complete(): void
  readonly reader: NodeReader
}

/** A selector, compiled: one is used for many pages. */
export interface CssQuery {
  readonly css: string
  /** Its meaning depends on the element that the search begins at. */
  readonly isRelative: boolean
  /** What is found does not depend on what comes after it in the page. */
  readonly looksBackOnly: boolean
  /** jQuery's own positions, such as `:first` and `:eq(2)`, which are no CSS. */
  readonly hasPositions: boolean
}

/** Kinds of nodes, numbered as in the DOM. */
export const ELEMENT = 1
export const TEXT = 3
export const COMMENT = 8
export const DOCUMENT = 9
const DOCTYPE = 10
export type NodeKind = typeof ELEMENT | typeof TEXT | typeof COMMENT | typeof DOCUMENT | typeof DOCTYPE
export { DOCTYPE }

export interface NodeReader {
  kindOf(node: TreeNode): NodeKind
  nameOf(node: TreeNode): string
  attrsOf(node: TreeNode): readonly { readonly name: string; readonly value: string }[]
  childrenOf(node: TreeNode): readonly TreeNode[]
  parentOf(node: TreeNode): TreeNode | null
  /** Of a text or comment. */
  dataOf(node: TreeNode): string
}

/** Text of a node and all in it, without recursion. */
export function textWithin(node: TreeNode, reader: NodeReader): string {
  if (reader.kindOf(node) === TEXT) return reader.dataOf(node)
  const parts: string[] = []
  const stack = reader.childrenOf(node).toReversed()
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const kind = reader.kindOf(next)
    if (kind === TEXT) parts.push(reader.dataOf(next))
    else if (kind !== COMMENT) pushReversed(stack, reader.childrenOf(next))
  }
  return parts.join('')
}

export function pushReversed<T>(stack: T[], items: readonly T[]): void {
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at]
    if (item !== undefined) stack.push(item)
  }
}
