/** Where a MongoDB store is: the URL taken apart, and put together again without credentials. */

import { CrawlError } from '../../core/errors.ts'

export interface Place {
  /** For the driver: without what is Spoor's own. */
  readonly connection: string
  readonly database: string
  /** Begins the names of all collections. */
  readonly prefix: string
  /** For messages: without credentials. */
  readonly location: string
  /** Never to be seen in a message. */
  readonly secrets: readonly string[]
}

const DEFAULT_DATABASE = 'spoor'
const DEFAULT_PREFIX = 'spoor_'
const FORM = /^(mongodb(?:\+srv)?:\/\/)(?:([^/?]*)@)?([^/?@]+)(?:\/([^?]*))?(?:\?(.*))?$/

/** `mongodb://user:password@host:port,…/database?prefix=spoor_&…`. Throws CONFIG_INVALID. */
export function parsePlace(url: string): Place {
  const parts = FORM.exec(url)
  if (parts === null) throw invalid('Expected a store URL like mongodb://host:27017/database, found something else')
  const [, scheme = '', login, hosts = '', path = '', query = ''] = parts
  const parameters = new URLSearchParams(query)
  const prefix = prefixOf(parameters.get('prefix') ?? DEFAULT_PREFIX)
  parameters.delete('prefix')
  const database = databaseOf(path)
  const options = parameters.size === 0 ? '' : `?${parameters.toString()}`
  const own = prefix === DEFAULT_PREFIX ? '' : `?prefix=${prefix}`
  return {
    connection: `${scheme}${login === undefined ? '' : `${login}@`}${hosts}/${path}${options}`,
    database,
    prefix,
    location: `${scheme}${hosts}/${database}${own}`,
    secrets: login === undefined ? [] : secretsOf(login),
  }
}

function prefixOf(prefix: string): string {
  if (/^[A-Za-z_][\w-]{0,39}$/.test(prefix)) return prefix
  throw invalid(`Expected ?prefix= of the store URL to be 1 to 40 letters, digits, _ or -, found "${prefix}"`)
}

function databaseOf(path: string): string {
  const database = decode(path) || DEFAULT_DATABASE
  if (!/[/\\. "$*<>:|?\0]/.test(database) && database.length <= 38) return database
  throw invalid(`Expected the name of a database in the store URL, at most 38 characters, found "${database}"`)
}

function secretsOf(login: string): string[] {
  const colon = login.indexOf(':')
  const password = colon < 0 ? '' : login.slice(colon + 1)
  return [login, password, decode(password)].filter((secret) => secret.length > 2)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
