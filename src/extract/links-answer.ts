/** The answer of the command `links` for one page. */

import { decodePage } from './charset.ts'
import type { PageLink, PageRefresh, ScanOptions } from './contract.ts'
import { isXhtml } from './mime-type.ts'
import { scanPage } from './scan.ts'

export interface LinksQuestion {
  /** Text of the page, or its bytes. */
  readonly html: string | Uint8Array
  /** What relative links are resolved against unless the page has a base. */
  readonly url: string
  /** Header Content-Type: its charset, and whether the page is XHTML. */
  readonly contentType?: string
}

export interface LinksAnswer {
  readonly base: string
  readonly links: readonly PageLink[]
  readonly title: string
  readonly canonical: string | null
  readonly robots: readonly string[]
  readonly refresh?: PageRefresh
}

export function answerLinks(
  question: LinksQuestion,
  options: Pick<ScanOptions, 'agent' | 'resolve' | 'maxUrlBytes'> = {},
): LinksAnswer {
  const { html, url, contentType } = question
  const page = typeof html === 'string' ? { text: html, charset: 'utf-8' } : decodePage(html, contentType)
  const { charset, text } = page
  const scan = scanPage(text, { ...options, url, charset, withText: true, xml: isXhtml(contentType) })
  return {
    base: scan.base,
    links: scan.links,
    title: scan.title,
    canonical: scan.canonical ?? null,
    robots: scan.robots,
    ...(scan.refresh === undefined ? {} : { refresh: scan.refresh }),
  }
}
