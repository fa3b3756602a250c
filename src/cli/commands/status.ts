/** `spoor status`: where the crawl stands. */

import type { CrawlStatus } from '../../crawler/contract.ts'
import { formatCount } from '../../util/format.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { withReader } from '../reading.ts'
import { whereFlags } from '../summary.ts'
import { clean, columns, tally, total } from '../text.ts'

export async function runStatus(context: CommandContext): Promise<ExitCode> {
  const { output, options } = context
  const status = await withReader(context, (reader) => reader.status())
  if (output.json) {
    const { task, pending, leased, done, failed, skipped, hosts, workers, ...more } = status
    await output.jsonLine({ task, pending, leased, done, failed, skipped, hosts, workers, ...more })
  } else await output.result(statusText(status, { place: options.dir, where: whereFlags(options) }))
  return EXIT.done
}

export function statusText(
  status: CrawlStatus,
  { place, where }: { readonly place: string; readonly where: string },
): string {
  const skipped = total(status.skipped)
  const rows = [
    ['pending', formatCount(status.pending), ''],
    [
      'leased',
      formatCount(status.leased),
      status.leased > 0 && living(status) === 0 ? 'by workers that are gone; a crawl takes them up' : '',
    ],
    ['done', formatCount(status.done), ''],
    ['failed', formatCount(status.failed), status.failed > 0 ? `spoor failures${where}` : ''],
    ['skipped', formatCount(skipped), tally(status.skipped)],
    ['hosts', formatCount(status.hosts), ''],
    ...(status.items === undefined
      ? []
      : [['items', formatCount(status.items), `spoor export${where} -o pages.jsonl`]]),
    ['workers', formatCount(living(status)), ''],
  ]
  return [
    `Crawl ${clean(status.task)} in ${place}: ${standing(status)}`,
    ...columns(rows, new Set([1])),
    ...levels(status),
  ].join('\n')
}

const living = (status: CrawlStatus): number => status.workers.filter((worker) => worker.alive).length

function standing(status: CrawlStatus): string {
  if (living(status) > 0) return 'running'
  return status.pending + status.leased > 0 ? 'not finished; spoor crawl goes on with it' : 'finished'
}

function levels(status: CrawlStatus): string[] {
  const found = status.levels ?? []
  if (found.length === 0) return []
  const head = ['depth', 'pending', 'leased', 'done', 'failed', 'skipped']
  const rows = found.map((level) =>
    [level.depth, level.pending, level.leased, level.done, level.failed, level.skipped].map(formatCount),
  )
  return ['', ...columns([head, ...rows], new Set(head.keys()))]
}
