/** Where the database is: a URL taken apart. */

import { CrawlError } from '../../core/errors.ts'

export interface Address {
  /** For the driver: without what only this store reads. Holds credentials. */
  readonly url: string
  /** For people: without credentials. */
  readonly location: string
  /** Every table begins with it. */
  readonly prefix: string
}

const DEFAULT_PREFIX = 'spoor_'
/** An identifier that needs no quotes, short enough that a name made of it stays under 63 bytes. */
const PREFIX = /^[a-z_][a-z0-9_]{0,30}$/

/** Throws CONFIG_INVALID, with nothing of the credentials in it. */
export function parseAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw invalid('Expected the URL of a PostgreSQL database, postgres://user:password@host:port/database')
  }
  const prefix = url.searchParams.get('prefix') ?? DEFAULT_PREFIX
  if (!PREFIX.test(prefix)) {
    throw invalid(
      `Expected a prefix of small letters, digits and _ (at most 31), which begins with a letter: found "${prefix}"`,
    )
  }
  url.searchParams.delete('prefix')
  const host = url.host === '' ? (url.searchParams.get('host') ?? 'localhost') : url.host
  const named = prefix === DEFAULT_PREFIX ? '' : `?prefix=${prefix}`
  return { url: url.href, location: `postgres://${host}${url.pathname}${named}`, prefix }
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
