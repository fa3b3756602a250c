/** Addresses of stores: which kind each one names. */

export type StoreKind = 'memory' | 'postgres' | 'mongodb' | 'redis'

const KINDS: Readonly<Record<string, StoreKind>> = {
  'memory:': 'memory',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mongodb:': 'mongodb',
  'mongodb+srv:': 'mongodb',
  'redis:': 'redis',
  'rediss:': 'redis',
  'valkey:': 'redis',
  'valkeys:': 'redis',
}

/** What people may write, for messages. Never with what they wrote: it may hold a password. */
export const STORE_URLS = 'postgres://…, mongodb://…, redis://… or memory:'

export function storeKindOf(url: string): StoreKind | undefined {
  const scheme = /^[a-z+]+:/i.exec(url.trim())?.[0].toLowerCase()
  return scheme === undefined ? undefined : KINDS[scheme]
}
