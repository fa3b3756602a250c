/** XPath 1.0 over the tree of a page: its nodes are shown to the library as nodes of the DOM. */

import { loadLate } from '../../util/load-late.ts'
import { COMMENT, ELEMENT, type NodeReader, type PageTree, pushReversed, TEXT, type TreeNode } from './tree.ts'

/** The part that is used here: the package's own types bring those of a browser with them. */
interface XPathPackage {
  parse(expression: string): ParsedXPath
  readonly XNodeSet: { readonly prototype: { addArray: (this: NodeSet, nodes: readonly DomNode[]) => void } }
}
interface NodeSet {
  readonly nodes: DomNode[]
  size: number
  tree: unknown
}
const load = loadLate<XPathPackage>('xpath')
let prepared: XPathPackage | undefined

function library(): XPathPackage {
  if (prepared === undefined) {
    prepared = load()
    // its own looks for each node among all that are there: minutes for the cells of a large table
    prepared.XNodeSet.prototype.addArray = addNodes
  }
  return prepared
}

function addNodes(this: NodeSet, nodes: readonly DomNode[]): void {
  const known = new Set(this.nodes)
  for (const node of nodes) {
    if (known.has(node)) continue
    known.add(node)
    this.nodes.push(node)
  }
  this.size = this.nodes.length
  this.tree = null
}

export interface XPathQuery {
  /** Elements and texts in document order; a number, text or truth as one text. */
  all(tree: PageTree, scope: TreeNode, max: number): readonly XPathFind[]
}

export type XPathFind = { readonly node: TreeNode } | { readonly text: string }

/** Throws an Error that says what is wrong with the expression. */
export function compileXPath(expression: string): XPathQuery {
  const parsed = library().parse(expression)
  return {
    all(tree, scope, max) {
      const node = showTree(tree).get(scope)
      const result = parsed.evaluate({ node, isHtml: true })
      if (result.toArray === undefined) return [{ text: result.stringValue() }]
      return result.toArray().slice(0, max).map(findOf)
    },
  }
}

interface ParsedXPath {
  evaluate(options: { readonly node: unknown; readonly isHtml: boolean }): {
    stringValue(): string
    toArray?(): readonly DomNode[]
  }
}

function findOf(found: DomNode): XPathFind {
  if (found.nodeType === ATTRIBUTE) return { text: found.nodeValue ?? '' }
  return found.nodeType === TEXT || found.nodeType === COMMENT
    ? { text: found.nodeValue ?? '' }
    : { node: found.source }
}

const ATTRIBUTE = 2

interface DomNode {
  readonly nodeType: number
  readonly nodeValue: string | null
  readonly source: TreeNode
}

/** One a tree: nodes must be the same whenever they are asked for. */
const shownTrees = new WeakMap<TreeNode, ReadonlyMap<TreeNode, ShownNode>>()

function showTree(tree: PageTree): ReadonlyMap<TreeNode, ShownNode> {
  let shown = shownTrees.get(tree.root)
  if (shown === undefined) {
    tree.complete()
    shown = showNodes(tree)
    shownTrees.set(tree.root, shown)
  }
  return shown
}

/** All of them at once, numbered: the library asks for the order of nodes more often than for anything else. */
function showNodes({ root, reader }: PageTree): ReadonlyMap<TreeNode, ShownNode> {
  const nodes = new Map<TreeNode, ShownNode>()
  const stack: ShownNode[] = [new ShownNode({ source: root, reader, parent: null, place: 0 })]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    node.order = nodes.size
    nodes.set(node.source, node)
    const parent = node
    node.childNodes = reader
      .childrenOf(node.source)
      .map((source, place) => new ShownNode({ source, reader, parent, place }))
    pushReversed(stack, node.childNodes)
  }
  return nodes
}

const PRECEDING = 0x02
const FOLLOWING = 0x04

interface ShownPlace {
  readonly source: TreeNode
  readonly reader: NodeReader
  readonly parent: ShownNode | null
  readonly place: number
}

/** A node with the names that the DOM has for its parts. */
class ShownNode implements DomNode {
  readonly source: TreeNode
  readonly nodeType: number
  readonly nodeName: string
  readonly namespaceURI = ''
  readonly nodeValue: string | null
  readonly parentNode: ShownNode | null
  readonly ownerDocument: ShownNode | null
  childNodes: readonly ShownNode[] = []
  order = 0
  readonly #reader: NodeReader
  readonly #place: number
  #attributes: readonly ShownAttribute[] | undefined

  constructor({ source, reader, parent, place }: ShownPlace) {
    this.source = source
    this.#reader = reader
    this.#place = place
    this.parentNode = parent
    this.ownerDocument = parent === null ? null : (parent.ownerDocument ?? parent)
    this.nodeType = reader.kindOf(source)
    this.nodeName = this.nodeType === ELEMENT ? reader.nameOf(source) : '#node'
    this.nodeValue = this.nodeType === TEXT || this.nodeType === COMMENT ? reader.dataOf(source) : null
  }

  get attributes(): NamedNodes {
    const list = (this.#attributes ??= this.#reader
      .attrsOf(this.source)
      .map((attr, index, { length }) => new ShownAttribute(this, attr, this.order + (index + 1) / (length + 1))))
    return Object.assign({ item: (index: number) => list[index] ?? null, length: list.length }, list)
  }

  get firstChild(): ShownNode | null {
    return this.childNodes[0] ?? null
  }

  get nextSibling(): ShownNode | null {
    return this.parentNode?.childNodes[this.#place + 1] ?? null
  }

  get previousSibling(): ShownNode | null {
    return this.parentNode?.childNodes[this.#place - 1] ?? null
  }

  compareDocumentPosition(other: { readonly order: number }): number {
    return positionOf(this.order, other.order)
  }
}

interface NamedNodes {
  readonly length: number
  item(index: number): ShownAttribute | null
}

function positionOf(mine: number, other: number): number {
  if (mine === other) return 0
  return other < mine ? PRECEDING : FOLLOWING
}

class ShownAttribute implements DomNode {
  readonly nodeType = ATTRIBUTE
  readonly ownerElement: ShownNode
  readonly name: string
  readonly nodeName: string
  readonly namespaceURI = ''
  readonly nodeValue: string
  readonly value: string
  readonly parentNode = null
  readonly order: number

  constructor(owner: ShownNode, { name, value }: { readonly name: string; readonly value: string }, order: number) {
    this.ownerElement = owner
    this.name = name
    this.nodeName = name
    this.nodeValue = value
    this.value = value
    this.order = order
  }

  get source(): TreeNode {
    return this.ownerElement.source
  }

  compareDocumentPosition(other: { readonly order: number }): number {
    return positionOf(this.order, other.order)
  }
}
