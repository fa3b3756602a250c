/** `spoor status`: where the crawl stands. */

import type { CrawlStatus, WorkerStatus } from '../../crawler/contract.ts'
import { formatCount } from '../../util/format.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { findingsText } from '../findings.ts'
import { withReader } from '../reading.ts'
import { clean, columns, tally, total } from '../text.ts'
import { placeOf, whereFlags } from '../where.ts'

/** Of a crawl on many machines. */
const SHOWN_WORKERS = 20

export async function runStatus(context: CommandContext): Promise<ExitCode> {
  const { output, options } = context
  const status = await withReader(context, (reader) => reader.status())
  if (output.json) {
    const { task, pending, leased, done, failed, skipped, hosts, workers, ...more } = status
    await output.jsonLine({ task, pending, leased, done, failed, skipped, hosts, workers, ...more })
  } else await output.result(statusText(status, { place: placeOf(options), where: whereFlags(options) }))
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
      status.leased > 0 && living(status).length === 0 ? 'by workers that are gone; a crawl takes them up' : '',
    ],
    ['done', formatCount(status.done), ''],
    ['failed', formatCount(status.failed), status.failed > 0 ? `spoor failures${where}` : ''],
    ['skipped', formatCount(skipped), tally(status.skipped)],
    ['hosts', formatCount(status.hosts), ''],
    ...(status.items === undefined
      ? []
      : [['items', formatCount(status.items), `spoor export${where} -o pages.jsonl`]]),
    ...(status.recrawl === undefined
      ? []
      : [['recrawl', formatCount(status.recrawl.due), `due: ${findingsText(status.recrawl)}`]]),
    ['workers', formatCount(living(status).length), living(status).length > 0 ? `${rateOf(status)} pages/s` : ''],
  ]
  return [
    `Crawl ${clean(status.task)} in ${place}: ${standing(status, where)}`,
    ...columns(rows, new Set([1])),
    ...workerRows(status),
    ...levels(status),
  ].join('\n')
}

const living = ({ workers: all }: CrawlStatus): readonly WorkerStatus[] => all.filter((worker) => worker.alive)

const rateOf = (status: CrawlStatus): string =>
  living(status)
    .reduce((sum, { pagesPerSecond }) => sum + pagesPerSecond, 0)
    .toFixed(1)

function standing(status: CrawlStatus, where: string): string {
  if (living(status).length > 0) return 'running'
  if (status.pending + status.leased > 0) return `not finished; spoor crawl${where} goes on with it`
  return status.done + status.failed + total(status.skipped) === 0 ? 'nothing was queued yet' : 'finished'
}

/** The busiest first. */
function workerRows(status: CrawlStatus): string[] {
  const alive = living(status).toSorted((a, b) => b.pagesPerSecond - a.pagesPerSecond || b.leased - a.leased)
  if (alive.length === 0) return []
  const rows = alive
    .slice(0, SHOWN_WORKERS)
    .map(({ owner, machine, pid, leased, pages, pagesPerSecond }) => [
      clean(owner),
      machine === null ? '' : `${clean(machine)}:${pid ?? '?'}`,
      formatCount(leased),
      formatCount(pages),
      pagesPerSecond.toFixed(1),
    ])
  const more = alive.length > SHOWN_WORKERS ? [`and ${alive.length - SHOWN_WORKERS} more; --json has them all`] : []
  return ['', ...columns([['worker', 'machine', 'leased', 'pages', 'pages/s'], ...rows], new Set([2, 3, 4])), ...more]
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
