/** The dashboard of a crawl that this command runs: open before anything is fetched, closed with its end. */

import type { CrawlRun } from '../crawler/contract.ts'
import type { Feed } from '../dashboard/feed.ts'
import type { CommandContext } from './command.ts'
import { placeOf } from './where.ts'

export interface CrawlDashboard {
  readonly feed: Feed
  /** Until then those who look wait. */
  attach(run: CrawlRun): void
  close(): Promise<void>
}

const nothing = (): void => undefined

/** Undefined: none is wanted. Rejects with CONFIG_INVALID when its address cannot be listened on. */
export async function openCrawlDashboard(context: CommandContext): Promise<CrawlDashboard | undefined> {
  const { options, host } = context
  if (options.dashboard === undefined) return undefined
  const { parseDashboardAddress } = await import('../dashboard/address.ts')
  const { createFeed } = await import('../dashboard/feed.ts')
  const { openDashboard } = await import('../dashboard/server.ts')
  let attach: (run: CrawlRun) => void = nothing
  const attached = new Promise<CrawlRun>((resolve) => {
    attach = resolve
  })
  const feed = createFeed(() => host.clock.nowMs())
  const dashboard = await openDashboard({
    source: {
      place: placeOf(options),
      task: options.task,
      run: attached,
      openReader: async (task) => (await attached).reader(task),
    },
    feed,
    clock: host.clock,
    address: parseDashboardAddress(options.dashboard),
    token: options.dashboardToken,
  })
  sayWhere(context, dashboard.url)
  return { feed, attach, close: () => dashboard.close() }
}

/** A token that was made here must be told, quiet or not. */
export function sayWhere({ output, options }: CommandContext, url: string): void {
  const say = url.includes('?token=') && options.dashboardToken === undefined ? output.problem : output.hint
  say(`Dashboard: ${options.dashboardToken === undefined ? url : url.replace(/\?.*/, '')}`)
}
