/** The flags of the benches that crawl. */

import { parseArgs } from 'node:util'
import { PEERS } from './peers.ts'

export interface CompareOptions {
  readonly sites: readonly string[]
  /** Names; the first is what the others are compared with. */
  readonly peers: readonly string[]
  /** Of the generated sites. */
  readonly pages: number
  readonly rounds: number
  /** Requests in flight, of those that can do with any number. */
  readonly concurrency: number
  readonly timeoutMs: number
  /** Also the crawls that are killed half way. */
  readonly kill: boolean
  readonly json: boolean
}

export const USUAL_PEERS = PEERS.filter(({ optional }) => optional !== true).map(({ name }) => name)

export function readOptions(defaults: { readonly sites: string; readonly peers: readonly string[] }): CompareOptions {
  const { values } = parseArgs({
    options: {
      sites: { type: 'string', default: defaults.sites },
      peers: { type: 'string', default: defaults.peers.join(',') },
      pages: { type: 'string', default: '50000' },
      rounds: { type: 'string', default: '3' },
      concurrency: { type: 'string', default: '64' },
      /** Seconds after which a run is ended. */
      timeout: { type: 'string', default: '1800' },
      kill: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  return {
    sites: values.sites.split(','),
    peers: values.peers.split(','),
    pages: positive('pages', values.pages),
    rounds: positive('rounds', values.rounds),
    concurrency: positive('concurrency', values.concurrency),
    timeoutMs: positive('timeout', values.timeout) * 1000,
    kill: values.kill,
    json: values.json,
  }
}

function positive(flag: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`--${flag}: expected a whole number above 0, found ${text}`)
}
