/** The main content of a page, as text, Markdown or markup: by Readability, the reader view of Firefox. */

import { CrawlError } from '../../core/errors.ts'
import { loadLate } from '../../util/load-late.ts'
import type { ReadableField } from './contract.ts'
import type { PageTree } from './tree.ts'

/** The parts that are used here: the packages' own types bring those of a browser with them. */
interface ReadabilityPackage {
  readonly Readability: new (
    document: object,
    options: { readonly maxElemsToParse: number },
  ) => { parse(): Article | null }
}
interface LinkedomPackage {
  parseHTML(html: string): { readonly document: object }
}
type TurndownPackage = new (options: Readonly<Record<string, string>>) => { turndown(html: string): string }
type Article = Readonly<Partial<Record<'title' | 'byline' | 'excerpt' | 'content' | 'textContent', string | null>>>

const readability = loadLate<ReadabilityPackage>('@mozilla/readability')
const linkedom = loadLate<LinkedomPackage>('linkedom')
const turndown = loadLate<TurndownPackage>('turndown')

export interface ReadableContent {
  get(part: ReadableField['readable']): string | undefined
}

/** Elements that Readability looks at: of more it makes nothing. */
const MAX_ELEMENTS = 50_000

/** Of what it is built is loaded now: PEER_MISSING names what to install. Undefined parts: the page has none. */
export function openReadable(tree: PageTree, url: string): ReadableContent {
  const { Readability } = loaded(readability, '@mozilla/readability')
  const { parseHTML } = loaded(linkedom, 'linkedom')
  // markup of the whole tree, so that this library need not know what to make of broken pages
  const { document } = parseHTML(tree.htmlOf(tree.root))
  setBase(document, url)
  const article = new Readability(document, { maxElemsToParse: MAX_ELEMENTS }).parse()
  return {
    get(part) {
      if (article === null) return undefined
      if (part === 'markdown') return markdownOf(article.content ?? '')
      if (part === 'text') return foldLines(article.textContent ?? '')
      if (part === 'html') return article.content ?? undefined
      return article[part] ?? undefined
    },
  }
}

/** Links in the content are absolute by this. */
function setBase(document: object, url: string): void {
  Object.defineProperties(document, { documentURI: { value: url }, baseURI: { value: url } })
}

function markdownOf(html: string): string {
  const Turndown = loaded(turndown, 'turndown')
  return new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' }).turndown(html).trim()
}

/** Blank lines between paragraphs, no other white space in rows. */
function foldLines(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim()
}

function loaded<T>(load: () => T, name: string): T {
  try {
    return load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    throw new CrawlError('PEER_MISSING', { context: { feature: 'the main content of a page', name }, cause: error })
  }
}
