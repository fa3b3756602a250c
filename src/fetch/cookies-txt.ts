/** The cookies.txt format (Netscape's, as curl and wget read and write it). */

import type * as ToughCookie from 'tough-cookie'
import type { Cookie } from 'tough-cookie'
import { loadLate } from '../util/load-late.ts'

const library = loadLate<typeof ToughCookie>('tough-cookie')

export interface ImportedCookie {
  readonly cookie: Cookie
  /** A URL that may set it. */
  readonly url: string
}

const HTTP_ONLY = '#HttpOnly_'

export function formatCookiesTxt(cookies: readonly Cookie[]): string {
  const lines = cookies
    .filter((cookie) => cookie.domain != null)
    .map((cookie) => {
      const domain = `${cookie.hostOnly === true ? '' : '.'}${cookie.domain ?? ''}`
      const expires = cookie.expiryTime()
      const seconds = expires === undefined || !Number.isFinite(expires) ? 0 : Math.max(0, Math.floor(expires / 1000))
      const fields = [
        domain,
        flag(cookie.hostOnly !== true),
        cookie.path ?? '/',
        flag(cookie.secure),
        seconds,
        cookie.key,
        cookie.value,
      ]
      return `${cookie.httpOnly ? HTTP_ONLY : ''}${fields.join('\t')}\n`
    })
  return `# Netscape HTTP Cookie File\n${lines.join('')}`
}

/** Lines that are none and cookies that have expired are passed over. */
export function parseCookiesTxt(text: string, nowMs: number): readonly ImportedCookie[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const parsed = parseLine(line, nowMs)
    return parsed === undefined ? [] : [parsed]
  })
}

function flag(value: boolean): string {
  return value ? 'TRUE' : 'FALSE'
}

function parseLine(line: string, nowMs: number): ImportedCookie | undefined {
  const httpOnly = line.startsWith(HTTP_ONLY)
  if (line.startsWith('#') && !httpOnly) return undefined
  const fields = (httpOnly ? line.slice(HTTP_ONLY.length) : line).split('\t')
  const field = (at: number): string => fields[at] ?? ''
  const isTrue = (at: number): boolean => field(at).toUpperCase() === 'TRUE'
  const host = field(0).replace(/^\./, '').toLowerCase()
  const path = field(2).startsWith('/') ? field(2) : '/'
  const url = `${isTrue(3) ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}${path}`
  const expiresMs = Number(field(4)) * 1000
  if (fields.length < 6 || !URL.canParse(url) || isOver(expiresMs, nowMs)) return undefined
  const cookie = new (library().Cookie)({ key: field(5), value: field(6), path, secure: isTrue(3), httpOnly })
  if (isTrue(1)) cookie.domain = host
  if (expiresMs > 0) cookie.expires = new Date(expiresMs)
  return { cookie, url }
}

/** 0 is a cookie of the session. */
function isOver(expiresMs: number, nowMs: number): boolean {
  return !Number.isFinite(expiresMs) || (expiresMs > 0 && expiresMs <= nowMs)
}
