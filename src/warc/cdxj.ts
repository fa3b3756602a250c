/** Lines of the index beside a WARC file: which record answers for which URL. */

import type { WarcExchange } from './contract.ts'

export interface IndexLine {
  readonly url: string
  readonly dateMs: number
  readonly status: number
  readonly mime: string
  readonly digest: string
  readonly filename: string
  readonly offset: number
  readonly length: number
}

/** Host read backwards, then the path: `com,example)/path?query`. */
function surtOf(url: string): string {
  const { hostname, port, pathname, search } = new URL(url)
  const isName = !hostname.startsWith('[') && !/^[\d.]+$/.test(hostname)
  const host = isName
    ? hostname
        .replace(/^www\d*\./, '')
        .split('.')
        .toReversed()
        .join(',')
    : hostname
  return `${host}${port === '' ? '' : `:${port}`})${pathname}${search}`.toLowerCase().replaceAll(' ', '%20')
}

export function formatIndexLine(line: IndexLine): string {
  const { url, dateMs, status, mime, digest, filename, offset, length } = line
  const stamp = new Date(dateMs).toISOString().replace(/\D/g, '').slice(0, 14)
  const fields = {
    url,
    mime,
    status: String(status),
    digest,
    length: String(length),
    offset: String(offset),
    filename,
    // of our own: the index has whole seconds, a revisit refers to the very instant
    dateMs,
  }
  return `${surtOf(url)} ${stamp} ${JSON.stringify(fields)}\n`
}

/** Undefined: torn, or of another program. */
export function parseIndexLine(line: string): IndexLine | undefined {
  const brace = line.indexOf('{')
  if (brace === -1 || brace > 20_000) return undefined
  try {
    const value = JSON.parse(line.slice(brace)) as Readonly<Record<string, unknown>>
    const { url, mime, digest, filename } = value
    const [status, offset, length, dateMs] = ['status', 'offset', 'length', 'dateMs'].map((name) => Number(value[name]))
    if (![url, mime, digest, filename].every((text) => typeof text === 'string')) return undefined
    if (![status, offset, length, dateMs].every((number) => Number.isSafeInteger(number))) return undefined
    return { url, mime, digest, filename, status, offset, length, dateMs } as IndexLine
  } catch {
    return undefined
  }
}

export function mimeOf({ headers, status, body }: WarcExchange): string {
  if (status === 304) return 'warc/revisit'
  const type = headers
    .find(([name]) => name === 'content-type')?.[1]
    .split(';')[0]
    ?.trim()
    .toLowerCase()
  if (type !== undefined && /^[!-~]+$/.test(type)) return type
  return body.length === 0 ? 'unk' : 'application/octet-stream'
}
