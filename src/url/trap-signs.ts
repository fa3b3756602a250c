/** What in a single URL looks like a trap: pure readings of its path and query, each linear in its length. */

import { filterQuery, isSessionParameter, withoutSessionPath } from './identity.ts'

export interface UrlParts {
  readonly hostKey: string
  /** With its leading slash. */
  readonly path: string
  readonly segments: readonly string[]
  /** Without question mark. */
  readonly query: string
  readonly parameters: readonly string[]
}

/** Takes a serialised http(s) URL without fragment apart. A slash at the end makes no segment; doubled slashes do. */
export function partsOf(url: string): UrlParts {
  const start = url.indexOf('//') + 2
  const slash = url.indexOf('/', start)
  const pathStart = slash === -1 ? url.length : slash
  const question = url.indexOf('?', pathStart)
  const authority = url.slice(start, pathStart)
  const path = url.slice(pathStart, question === -1 ? undefined : question)
  const query = question === -1 ? '' : url.slice(question + 1)
  const inner = path.slice(1, path.endsWith('/') ? -1 : undefined)
  return {
    hostKey: authority.slice(authority.lastIndexOf('@') + 1),
    path,
    segments: inner === '' ? [] : inner.split('/'),
    query,
    parameters: query === '' ? [] : query.split('&'),
  }
}

/** How often the most frequent of the texts is there. */
export function mostRepeats(texts: readonly string[]): number {
  const counts = new Map<string, number>()
  let most = 0
  for (const text of texts) {
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    if (count > most) most = count
  }
  return most
}

/** How deep escapes of escapes go: each page quotes the address of the one before. 1 for `%25`, 2 for `%2525`. */
export function escapeNesting(url: string): number {
  let most = 0
  for (const [run] of url.matchAll(/%(?:25)+/g)) most = Math.max(most, (run.length - 1) / 2)
  return most
}

/** The names of the parameters, in the order in which they stand. */
export function parameterNames(parameters: readonly string[]): string {
  return parameters.map((parameter) => parameter.split('=', 1)[0] ?? '').join('&')
}

/** The URL without what names a session; undefined when nothing does. */
export function withoutSession(url: string): string | undefined {
  if (!/sess|sid|;|cf(?:id|token)|\/\(|[?&]s=/i.test(url)) return undefined
  const rest = filterQuery(withoutSessionPath(url), (name, value) => !isSessionParameter(name, value))
  return rest === url ? undefined : rest
}

const CALENDAR_WORD = /cal|event|month|agenda|schedul|booking|termin|kalender|diary/i
const PATH_DATE = /\/(\d{4})[/-](\d{1,2})(?![\d.])/
const QUERY_DATE = /[?&](?:year|yr|y|date|month|day|start|from|to|d|m)=(\d{4})(?:-?(\d{2}))?(?=$|[-&\dT])/i
/** Appointments are not made for later. */
const MAX_YEARS_AHEAD = 3
/** Calendars that lead further back than this were written by a program. */
const FIRST_YEAR = 1970

/** A date that no page is about: years ahead, or, in what calls itself a calendar, long past. */
export function isFarDate(url: string, thisYear: number): boolean {
  const match = PATH_DATE.exec(url) ?? QUERY_DATE.exec(url)
  const [year, month] = [Number(match?.[1] ?? thisYear), Number(match?.[2] ?? 1)]
  if (month < 1 || month > 12) return false
  return year > thisYear + MAX_YEARS_AHEAD || (year < FIRST_YEAR && CALENDAR_WORD.test(url))
}
