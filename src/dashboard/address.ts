/** Where the dashboard listens. */

import { CrawlError } from '../core/errors.ts'

export interface DashboardAddress {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Nobody asked for this port: when it is taken, another will do. */
  readonly mayMove: boolean
}

const DEFAULT_PORT = 4949
const PARTS = /^(?:(?<host>\[[\da-f:.]+\]|[^\s/:[\]]*):)?(?<port>\d{1,5})$/i

/** `''`, `9000`, `:9000`, `0.0.0.0:9000`, `[::1]:9000`. Throws CONFIG_INVALID for anything else. */
export function parseDashboardAddress(text: string): DashboardAddress {
  if (text === '') return { host: '127.0.0.1', port: DEFAULT_PORT, mayMove: true }
  const groups = PARTS.exec(text)?.groups
  const port = Number(groups?.['port'])
  if (groups === undefined || port > 65_535) {
    const problem = `dashboard: expected PORT or HOST:PORT, as in 127.0.0.1:9000, found ${JSON.stringify(text)}`
    throw new CrawlError('CONFIG_INVALID', { context: { problem } })
  }
  const host = (groups['host'] ?? '').replace(/^\[|\]$/g, '')
  return { host: host === '' ? '127.0.0.1' : host, port, mayMove: false }
}

export function isLoopbackAddress(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
