/** The answer's body as a page: decoded, scanned and parsed only when someone asks. */

import type { CheerioAPI } from 'cheerio'
import type { PageScan, ScanOptions } from '../extract/contract.ts'
import { decodePage, decodePageInTurns } from '../extract/charset.ts'
import { sniffType } from '../extract/content-type.ts'
import type { JsonObject } from '../core/json.ts'
import { loadTree } from '../extract/page-tree.ts'
import { scanPage, scanPageInTurns } from '../extract/scan.ts'
import type { ExtractSchema } from '../extract/schema/contract.ts'
import { extract } from '../extract/schema/extract.ts'
import { type ExtractSource, openSource } from '../extract/schema/source.ts'
import { validate } from '../extract/schema/validate.ts'
import { isCrawlError } from '../core/errors.ts'
import { headerOf } from '../fetch/headers.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import { createResolver } from '../url/resolve.ts'
import type { ExtractOptions, Page, PageOptions } from './contract.ts'

const EMPTY_SCAN: Omit<PageScan, 'base'> = {
  links: [],
  linkCount: 0,
  foundCount: 0,
  title: '',
  canonical: undefined,
  refresh: undefined,
  robots: [],
  invalidLinks: 0,
  tooLong: [],
  droppedLinks: 0,
  visitLinks: () => undefined,
  visitLinksInTurns: async () => undefined,
}

/** Bodies up to here are worked out in one go when they are asked for: some 20 ms for the worst of them. */
const BIG_BODY_BYTES = 256 * 1024
/** Of a page, further down no links are looked for: what only the end of a page ends is searched in one go. */
export const MAX_SCAN_CHARS = 64 * 1024 * 1024

/** Of a page, fields are looked for in no more: a search goes through the whole tree at once. */
export const MAX_FIELD_CHARS = 2 * 1024 * 1024

/** Of one page; a folder listing has as many. */
const MAX_LINKS = 250_000

export interface OpenPage extends Page {
  /** The fields of `--select`. */
  fields(schema: ExtractSchema): Promise<JsonObject>
  /** Something was extracted of it. */
  readonly isExtracted: boolean
  /** What was extracted and dropped because it does not fit. */
  readonly invalidItems: number
}

/** A large page is decoded and scanned right away, in turns, so that it holds up no other. */
export function openPage(response: FetchResponse, options: PageOptions): OpenPage | Promise<OpenPage> {
  const page = new LazyPage(response, options)
  return response.body.length > BIG_BODY_BYTES && page.isHtml ? page.prepare() : page
}

class LazyPage implements OpenPage {
  readonly url: string
  readonly body: Uint8Array
  readonly #response: FetchResponse
  readonly #options: PageOptions
  #type: ReturnType<typeof sniffType> | undefined
  #decoded: { readonly text: string; readonly charset: string } | undefined
  #scan: PageScan | undefined
  #links: readonly string[] | undefined
  #dom: CheerioAPI | undefined
  #source: ExtractSource | undefined
  invalidItems = 0

  constructor(response: FetchResponse, options: PageOptions) {
    this.url = response.url
    this.body = response.body
    this.#response = response
    this.#options = options
  }

  get isExtracted(): boolean {
    return this.#source !== undefined
  }

  async fields(schema: ExtractSchema): Promise<JsonObject> {
    return (await extract(this.#extractSource(), schema, this.url)) as JsonObject
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- one body for the overloads of the contract
  async extract(schema: ExtractSchema, options?: ExtractOptions<unknown>): Promise<any> {
    const data = await extract(this.#extractSource(), schema, this.url)
    if (options === undefined) return data
    try {
      return await validate(options.validate, data, this.url)
    } catch (error) {
      if (options.onInvalid !== 'drop' || !isCrawlError(error, 'ITEM_INVALID')) throw error
      this.invalidItems++
      return null
    }
  }

  #extractSource(): ExtractSource {
    return (this.#source ??= openSource({
      text: this.text,
      baseUrl: () => this.scan.base,
      isXml: !this.isHtml && this.#sniffed().isXml,
      $: () => this.$,
      maxTreeChars: MAX_FIELD_CHARS,
    }))
  }

  async prepare(): Promise<OpenPage> {
    this.#decoded = await decodePageInTurns(this.body, this.#contentType())
    this.#scan = await scanPageInTurns(...this.#toScan())
    return this
  }

  get contentType(): string {
    return this.#sniffed().essence
  }

  get isHtml(): boolean {
    return this.#sniffed().isHtml
  }

  get charset(): string {
    return this.#text().charset
  }

  get text(): string {
    return this.#text().text
  }

  get scan(): PageScan {
    return (this.#scan ??= this.isHtml ? scanPage(...this.#toScan()) : { base: this.url, ...EMPTY_SCAN })
  }

  get links(): readonly string[] {
    if (this.#links === undefined) {
      const unique = new Set<string>()
      for (const link of this.scan.links) unique.add(link.url)
      unique.delete(this.url)
      this.#links = [...unique]
    }
    return this.#links
  }

  get title(): string {
    return this.scan.title
  }

  get $(): CheerioAPI {
    return (this.#dom ??= loadTree(this.text, { xml: this.#sniffed().isXml && !this.isHtml }))
  }

  json(): unknown {
    return JSON.parse(this.text)
  }

  #toScan(): [html: string, options: ScanOptions] {
    const { agent, maxUrlBytes, withText = false } = this.#options
    return [
      this.text.slice(0, MAX_SCAN_CHARS),
      {
        url: this.url,
        charset: this.charset,
        agent,
        maxUrlBytes,
        maxLinks: MAX_LINKS,
        resolve: createResolver,
        withText,
        xml: this.#sniffed().isXml,
      },
    ]
  }

  #contentType(): string | undefined {
    return headerOf(this.#response.headers, 'content-type')
  }

  #sniffed(): ReturnType<typeof sniffType> {
    return (this.#type ??= sniffType(
      this.body,
      this.#contentType(),
      headerOf(this.#response.headers, 'x-content-type-options')?.trim().toLowerCase() === 'nosniff',
    ))
  }

  #text(): { readonly text: string; readonly charset: string } {
    return (this.#decoded ??= decodePage(this.body, this.#contentType()))
  }
}
