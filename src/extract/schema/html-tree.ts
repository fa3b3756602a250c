/** A lean tree of an HTML page: parsed no further than what is looked for, and the same tree as `$` has. */

import type * as Parse5 from 'parse5'
import type { DefaultTreeAdapterTypes as Tree } from 'parse5'
import { loadLate } from '../../util/load-late.ts'
import { nextTurn } from '../../util/next-turn.ts'
import { limitNesting } from '../nesting.ts'
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

const parse5 = loadLate<typeof Parse5>('parse5')

/** Characters that are parsed at first; twice as many each time that it was not enough. */
const FIRST_CHARS = 4 * 1024
/** Read in one turn: a millisecond for pages as they are, a hundred for the worst that there can be. */
const CHARS_A_TURN = 4 * 1024

/** Children of no node are none: one list for all. */
const NONE: readonly TreeNode[] = []

const reader: NodeReader = {
  kindOf(node) {
    const { nodeName } = node as Tree.Node
    if (nodeName === '#text') return TEXT
    if (nodeName === '#comment') return COMMENT
    if (nodeName === '#document' || nodeName === '#document-fragment') return DOCUMENT
    return nodeName === '#documentType' ? DOCTYPE : ELEMENT
  },
  nameOf: (node) => (node as Tree.Node).nodeName,
  attrsOf: (node) => ('attrs' in node ? (node as Tree.Element).attrs : []),
  childrenOf(node) {
    // what a template holds is a document of its own
    if ('content' in node) return [(node as Tree.Template).content]
    return 'childNodes' in node ? (node as Tree.ParentNode).childNodes : NONE
  },
  parentOf: (node) => ('parentNode' in node ? ((node as Tree.ChildNode).parentNode ?? null) : null),
  dataOf: (node) =>
    'value' in node ? (node as Tree.TextNode).value : 'data' in node ? (node as Tree.CommentNode).data : '',
}

let engine: CssEngine | undefined

export interface HtmlTree extends PageTree {
  /** Parses the rest, letting others have their turn in between. */
  parseInTurns(): Promise<void>
}

/** Linear in the text, which is to be bounded; nested 512 levels deep at the most, as in browsers. */
export function openHtmlTree(text: string): HtmlTree {
  return new GrowingTree(limitNesting(text))
}

class GrowingTree implements HtmlTree {
  readonly root: TreeNode
  readonly reader = reader
  readonly #html: string
  readonly #parser: Parse5.Parser<Parse5.DefaultTreeAdapterMap>
  #parsedTo = 0
  #chunk = FIRST_CHARS
  #isWhole = false

  constructor(html: string) {
    this.#html = html
    this.#parser = new (parse5().Parser)<Parse5.DefaultTreeAdapterMap>()
    this.root = this.#parser.document
    engine ??= createCssEngine(reader)
  }

  first(query: CssQuery, scope: TreeNode = this.root): TreeNode | undefined {
    if (!query.looksBackOnly || query.isRelative) this.complete()
    for (;;) {
      const found = engine?.first(query, scope)
      if (this.#isWhole || (found !== undefined && this.#isSettled(found))) return found
      this.#parseMore()
    }
  }

  all(query: CssQuery, scope: TreeNode = this.root): readonly TreeNode[] {
    this.complete()
    return engine?.all(query, scope) ?? []
  }

  textOf(node: TreeNode): string {
    return textWithin(node, reader)
  }

  attrOf(node: TreeNode, name: string): string | undefined {
    return reader.attrsOf(node).find((attr) => attr.name === name)?.value
  }

  htmlOf(node: TreeNode): string {
    if (node === this.root) this.complete()
    return parse5().serialize(node as Tree.ParentNode)
  }

  async parseInTurns(): Promise<void> {
    while (!this.#isWhole) {
      this.#parse(CHARS_A_TURN)
      // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
      await nextTurn()
    }
  }

  /** It is closed, and nothing that comes later can be put before it or into it. */
  #isSettled(found: TreeNode): boolean {
    const { openElements, framesetOk } = this.#parser
    if (framesetOk) return false
    const open = openElements.items.slice(0, openElements.stackTop + 1)
    // what is misplaced in an open table goes before it
    return !open.some((element) => element === found || element.nodeName === 'table' || element.nodeName === 'template')
  }

  #parseMore(): void {
    this.#parse(this.#chunk)
    this.#chunk *= 2
  }

  complete(): void {
    if (!this.#isWhole) this.#parse(this.#html.length)
  }

  #parse(chars: number): void {
    const to = this.#parsedTo + chars
    this.#isWhole = to >= this.#html.length
    this.#parser.tokenizer.write(this.#html.slice(this.#parsedTo, to), this.#isWhole)
    this.#parsedTo = to
  }
}
