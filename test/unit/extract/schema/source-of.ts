/** A page for tests of extraction, from its markup alone. */

import type { CheerioAPI } from 'cheerio'
import { loadTree } from '../../../../src/extract/page-tree.ts'
import { type ExtractSource, openSource } from '../../../../src/extract/schema/source.ts'

export interface SourceOfOptions {
  readonly isXml?: boolean
  readonly baseUrl?: string
  /** Default: cheerio's of the text. */
  readonly $?: () => CheerioAPI
}

export function sourceOf(text: string, options: SourceOfOptions = {}): ExtractSource {
  const { isXml = false, baseUrl = 'https://site.test/', $ = () => loadTree(text, { xml: isXml }) } = options
  return openSource({ text, isXml, baseUrl: () => baseUrl, $, maxTreeChars: 2 * 1024 * 1024 })
}
