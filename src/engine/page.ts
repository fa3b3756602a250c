/** The answer's body as a page: decoded, scanned and parsed only when someone asks. */

import { createRequire } from 'node:module'
import type { CheerioAPI, load as Load } from 'cheerio'
import type { PageScan } from '../extract/contract.ts'
import { decodePage } from '../extract/charset.ts'
import { sniffType } from '../extract/content-type.ts'
import { scanPage } from '../extract/scan.ts'
import { headerOf } from '../fetch/headers.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import { createResolver } from '../url/resolve.ts'
import type { Page, PageOptions } from './contract.ts'

const EMPTY_SCAN: Omit<PageScan, 'base'> = {
  links: [],
  linkCount: 0,
  title: '',
  canonical: undefined,
  refresh: undefined,
  robots: [],
  invalidLinks: 0,
  tooLong: [],
  droppedLinks: 0,
  visitLinks: () => undefined,
}

// cheerio costs 60 ms and some memory to load: only for those who touch `$`, which is not a promise
const requireHere = createRequire(import.meta.url)

export function createPage(response: FetchResponse, options: PageOptions): Page {
  return new LazyPage(response, options)
}

class LazyPage implements Page {
  readonly url: string
  readonly body: Uint8Array
  readonly #response: FetchResponse
  readonly #options: PageOptions
  #type: ReturnType<typeof sniffType> | undefined
  #decoded: { readonly text: string; readonly charset: string } | undefined
  #scan: PageScan | undefined
  #links: readonly string[] | undefined
  #dom: CheerioAPI | undefined

  constructor(response: FetchResponse, options: PageOptions) {
    this.url = response.url
    this.body = response.body
    this.#response = response
    this.#options = options
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
    return (this.#scan ??= this.isHtml
      ? scanPage(this.text, {
          url: this.url,
          charset: this.charset,
          agent: this.#options.agent,
          maxUrlBytes: this.#options.maxUrlBytes,
          resolve: createResolver,
          xml: this.#sniffed().isXml,
        })
      : { ...EMPTY_SCAN, base: this.url })
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
    if (this.#dom === undefined) {
      const { load } = requireHere('cheerio') as { load: typeof Load }
      const xml = this.#sniffed().isXml && !this.isHtml
      this.#dom = load(this.text, xml ? { xml: true } : {})
    }
    return this.#dom
  }

  json(): unknown {
    return JSON.parse(this.text)
  }

  #sniffed(): ReturnType<typeof sniffType> {
    return (this.#type ??= sniffType(
      this.body,
      headerOf(this.#response.headers, 'content-type'),
      headerOf(this.#response.headers, 'x-content-type-options')?.trim().toLowerCase() === 'nosniff',
    ))
  }

  #text(): { readonly text: string; readonly charset: string } {
    return (this.#decoded ??= decodePage(this.body, headerOf(this.#response.headers, 'content-type')))
  }
}
