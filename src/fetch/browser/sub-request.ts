/** One request of a page's scripts, as it leaves and as it comes back: pure translation. */

import type { FetchResponse, HeaderList } from '../contract.ts'

/** What of the DevTools protocol's `Fetch.requestPaused` is used. */
export interface Paused {
  readonly requestId: string
  readonly frameId: string
  readonly resourceType: string
  readonly request: {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly hasPostData?: boolean
    /** In base64. */
    readonly postDataEntries?: readonly { readonly bytes?: string }[]
  }
}

interface HeaderEntry {
  readonly name: string
  readonly value: string
}

/** Of Chromium's request: what the connection, the jar or the crawler's own identity decide. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'host',
  'proxy-authorization',
  'proxy-connection',
  'user-agent',
])

/** Of the user's own headers: what was for the document alone. */
const DOCUMENT_ONLY: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'cookie',
  'if-modified-since',
  'if-none-match',
  'range',
])

export interface HeaderParts {
  readonly paused: Paused
  /** The document's, when the request goes to its origin. */
  readonly own: Readonly<Record<string, string>>
  readonly cookie: string | undefined
}

/** Lower-case names. */
export function headersToSend({ paused, own, cookie }: HeaderParts): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(own)) if (!DOCUMENT_ONLY.has(name)) headers[name] = value
  for (const [name, value] of Object.entries(paused.request.headers)) {
    const key = name.toLowerCase()
    if (!NOT_SENT.has(key) && !key.startsWith('sec-ch-')) headers[key] = value
  }
  if (cookie !== undefined && cookie !== '') headers['cookie'] = cookie
  return headers
}

/** Undefined: there is none. `unreadable`: it is a file or a stream, which a page has no business to send. */
export function bodyToSend({ request }: Paused): Buffer | 'unreadable' | undefined {
  if (request.hasPostData !== true) return undefined
  const entries = request.postDataEntries ?? []
  if (entries.length === 0) return 'unreadable'
  const parts = entries.map(({ bytes }) => (bytes === undefined ? undefined : Buffer.from(bytes, 'base64')))
  const known = parts.filter((part) => part !== undefined)
  return known.length === parts.length ? Buffer.concat(known) : 'unreadable'
}

/** Of an answer: what was about the wire, or would change what the browser does with later pages. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-length',
  'keep-alive',
  'link',
  'nel',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'strict-transport-security',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export interface Shown {
  readonly responseCode: number
  readonly responseHeaders: HeaderEntry[]
  readonly body: string
}

/** What Chromium is told. `keepCookies`: the answer is of the page's own site. */
export function answerToShow(response: FetchResponse, keepCookies: boolean): Shown {
  return {
    responseCode: response.status,
    responseHeaders: headersToShow(response.headers, keepCookies),
    body: Buffer.from(response.body.buffer, response.body.byteOffset, response.body.byteLength).toString('base64'),
  }
}

function headersToShow(headers: HeaderList, keepCookies: boolean): HeaderEntry[] {
  return headers
    .filter(([name]) => !NOT_SHOWN.has(name) && (keepCookies || name !== 'set-cookie'))
    .map(([name, value]) => ({ name, value }))
}
