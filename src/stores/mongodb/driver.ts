/** The official driver, loaded when the first store of this kind is opened. */

import type * as Mongo from 'mongodb'
import { CrawlError } from '../../core/errors.ts'

export type Driver = typeof Mongo

/** Rejects with PEER_MISSING when the package is not installed. */
export async function loadDriver(): Promise<Driver> {
  try {
    return await import('mongodb')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new CrawlError('PEER_MISSING', { cause, context: { feature: 'A store at mongodb://', name: 'mongodb' } })
  }
}
