/** What a dashboard shows, whichever way it came to it: a run of this process, or a crawl that is kept. */

import type { CrawlReader, CrawlRun } from '../crawler/contract.ts'

export interface DashboardSource {
  /** The folder or the store, without a password. */
  readonly place: string
  /** Shown first. */
  readonly task: string
  /** Undefined: the crawl is looked at from outside, and whatever works on it does so elsewhere. */
  readonly run?: Promise<CrawlRun>
  /** Of one task; closed by the dashboard. Rejects when the store cannot be opened. */
  openReader(task: string): Promise<CrawlReader>
}
