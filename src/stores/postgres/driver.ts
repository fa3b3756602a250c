/** The driver, loaded when the first store is opened: an optional peer of this package. */

import type pg from 'pg'
import { CrawlError } from '../../core/errors.ts'

export type Client = pg.Client
export type Driver = Pick<typeof pg, 'Client'>

/** Rejects with PEER_MISSING when the package is not installed. */
export async function loadDriver(load: () => Promise<unknown> = () => import('pg')): Promise<Driver> {
  let loaded: unknown
  try {
    loaded = await load()
  } catch (error) {
    if (Object(error).code !== 'ERR_MODULE_NOT_FOUND') throw error
    const context = { feature: 'A PostgreSQL store', name: 'pg' }
    throw new CrawlError('PEER_MISSING', { cause: error, context })
  }
  const { default: driver } = loaded as { readonly default: Driver }
  return driver
}
