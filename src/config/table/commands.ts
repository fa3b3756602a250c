/** Which commands share options. */

import type { CommandName } from '../option-row.ts'
import { COMMAND_NAMES } from '../option-row.ts'

export const ALL: readonly CommandName[] = COMMAND_NAMES
export const CRAWL: readonly CommandName[] = ['crawl', 'run']
/** Commands about one crawl's data. */
export const STORED: readonly CommandName[] = [
  'crawl',
  'run',
  'status',
  'failures',
  'why',
  'export',
  'graph',
  'report',
  'verify',
  'clear',
  'dashboard',
]
/** Commands that read or write the download cache. */
export const CACHED: readonly CommandName[] = ['crawl', 'run', 'fetch', 'shell', 'cache']
/** Commands that send requests. */
export const HTTP: readonly CommandName[] = ['crawl', 'run', 'fetch', 'shell', 'doctor', 'sitemap', 'robots', 'links']
export const BATCH: readonly CommandName[] = ['canon', 'links', 'robots', 'fetch']
