/** A page as extraction sees it: each way to look at it is opened when a field first needs it. */

import type { CheerioAPI } from 'cheerio'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { parseJson } from './convert.ts'
import { openCheerioTree } from './cheerio-tree.ts'
import { type HtmlTree, openHtmlTree } from './html-tree.ts'
import { openReadable, type ReadableContent } from './readable.ts'
import { jsonLdOf, microdataOf } from './structured.ts'
import type { PageTree } from './tree.ts'

export interface SourceOptions {
  /** What relative URLs are resolved against. */
  readonly baseUrl: () => string
  readonly text: string
  /** XML and no HTML: its tree is built by `$`. */
  readonly isXml: boolean
  readonly $: () => CheerioAPI
  /** Of the text, more is not made a tree of. */
  readonly maxTreeChars: number
}

export interface ExtractSource {
  readonly text: string
  readonly baseUrl: string
  /** `withPositions`: for selectors that only cheerio understands. */
  tree(withPositions: boolean): PageTree
  json(): JsonValue | undefined
  jsonLd(): readonly JsonObject[]
  microdata(): readonly JsonObject[]
  readable(): ReadableContent
  /** Builds the tree of a large page in turns, where a tree will be needed. */
  prepare(): Promise<void> | undefined
}

/** Trees of no more are built in one go. */
const SMALL_TREE_CHARS = 64 * 1024

export function openSource(options: SourceOptions): ExtractSource {
  return new LazySource(options)
}

class LazySource implements ExtractSource {
  readonly text: string
  readonly #options: SourceOptions
  #html: HtmlTree | undefined
  #cheerio: PageTree | undefined
  #json: { readonly value: JsonValue | undefined } | undefined
  #jsonLd: readonly JsonObject[] | undefined
  #microdata: readonly JsonObject[] | undefined
  #readable: ReadableContent | undefined

  constructor(options: SourceOptions) {
    this.text = options.text
    this.#options = options
  }

  get baseUrl(): string {
    return this.#options.baseUrl()
  }

  tree(withPositions: boolean): PageTree {
    const { isXml, $ } = this.#options
    if (isXml || withPositions) return (this.#cheerio ??= openCheerioTree($()))
    return this.#htmlTree()
  }

  json(): JsonValue | undefined {
    return (this.#json ??= { value: parseJson(this.text) }).value
  }

  jsonLd(): readonly JsonObject[] {
    return (this.#jsonLd ??= jsonLdOf(this.tree(false)))
  }

  microdata(): readonly JsonObject[] {
    return (this.#microdata ??= microdataOf(this.tree(false), this.baseUrl))
  }

  readable(): ReadableContent {
    return (this.#readable ??= openReadable(this.tree(false), this.baseUrl))
  }

  prepare(): Promise<void> | undefined {
    if (this.#options.isXml || this.text.length <= SMALL_TREE_CHARS) return undefined
    return this.#htmlTree().parseInTurns()
  }

  #htmlTree(): HtmlTree {
    return (this.#html ??= openHtmlTree(this.text.slice(0, this.#options.maxTreeChars)))
  }
}
