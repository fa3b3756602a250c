/** `spoor dashboard`: a page about a crawl that is kept, or that others work on, until Ctrl-C. */

import { resolve } from 'node:path'
import { parseDashboardAddress } from '../../dashboard/address.ts'
import { createFeed } from '../../dashboard/feed.ts'
import { openDashboard } from '../../dashboard/server.ts'
import type { CommandContext } from '../command.ts'
import { sayWhere } from '../crawl-dashboard.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { loadLibrary } from '../library.ts'
import { withReader } from '../reading.ts'
import { watchInterrupts } from '../signals.ts'
import { placeOf } from '../where.ts'

export async function runDashboard(context: CommandContext): Promise<ExitCode> {
  const { host, options, output, positionals } = context
  const address = parseDashboardAddress(positionals[0] ?? '')
  // says so now, and not to the first who looks, when there is no such crawl
  await withReader(context, () => Promise.resolve())
  const { openForReading } = await loadLibrary()
  const dir = resolve(host.cwd, options.dir)
  const dashboard = await openDashboard({
    source: {
      place: placeOf(options),
      task: options.task,
      openReader: (task) => openForReading({ dir, store: options.store, task }),
    },
    feed: createFeed(() => host.clock.nowMs()),
    clock: host.clock,
    address,
    token: options.dashboardToken,
  })
  try {
    sayWhere(context, dashboard.url)
    if (output.json) await output.jsonLine({ url: dashboard.url })
    output.hint('Until Ctrl-C.')
    await new Promise<void>((leave) => {
      watchInterrupts(host, { stop: leave, abort: leave })
    })
  } finally {
    await dashboard.close()
  }
  return EXIT.done
}
