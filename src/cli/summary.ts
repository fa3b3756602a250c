/** What is said at the end of a crawl: what happened, where the results are, what to do next. */

import type { ResolvedOptions } from '../config/options.ts'
import type { CrawlSummary, ProgressSnapshot } from '../crawler/contract.ts'
import { formatBytes, formatDuration } from '../util/format.ts'
import { findingsText } from './findings.ts'
import { columns, plural, tally, total } from './text.ts'
import { isGoneAtEnd, whereFlags } from './where.ts'

export interface SummaryInput {
  readonly summary: CrawlSummary
  readonly options: ResolvedOptions
  readonly progress: ProgressSnapshot
  /** Of each task, when there are several. */
  readonly tasks?: readonly ResolvedOptions[]
}

/** The flags that a hint needs. Of several tasks one has to be chosen: pasted as it is, the answer names them. */
function whereOf({ options, tasks = [options] }: SummaryInput): string {
  return tasks.length === 1 ? whereFlags(options) : whereFlags({ ...options, task: 'NAME' })
}

/** Files that are named at the end. */
const MAX_FILES = 5

export function summaryText(input: SummaryInput): string {
  const { summary, options } = input
  const skipped = total(summary.skipped)
  const rows = [
    ['  pages', plural(summary.pages, 'page'), `${formatBytes(summary.bytes)} downloaded`],
    ...(summary.fromCache > 0 ? [['  cache', plural(summary.fromCache, 'page'), 'taken from the cache']] : []),
    ...(skipped > 0 ? [['  skipped', plural(skipped, 'URL'), tally(summary.skipped)]] : []),
    ...(summary.duplicates > 0
      ? [['  known', plural(summary.duplicates, 'link'), 'to pages that were known already']]
      : []),
    ...(summary.invalidItems === undefined
      ? []
      : [['  dropped', plural(summary.invalidItems, 'item'), 'not as the validator expects']]),
    ...recrawlRows(summary),
    ...(summary.failed > 0
      ? [['  failed', plural(summary.failed, 'page'), isGoneAtEnd(options) ? '' : `spoor failures${whereOf(input)}`]]
      : []),
  ]
  return [headline(input), ...columns(rows), ...nextSteps(input)].join('\n')
}

function recrawlRows({ recrawl, finishReason }: CrawlSummary): string[][] {
  if (recrawl === undefined) return []
  // of a round that was stopped it is not known which of the due pages were looked at
  return [[finishReason === 'finished' ? '  looked at' : '  due', plural(recrawl.due, 'page'), findingsText(recrawl)]]
}

function headline({ summary, options }: SummaryInput): string {
  const time = formatDuration(summary.seconds * 1000)
  if (summary.alreadyFinished === true) return nothingDone(summary)
  const resumed = summary.resumed === true ? ' (it went on where it had stopped)' : ''
  switch (summary.finishReason) {
    case 'finished':
      return `Finished in ${time}${resumed}.`
    case 'interrupted':
      return `Interrupted after ${time}${isGoneAtEnd(options) ? '' : '; nothing is lost'}.`
    case 'max-pages':
    case 'max-time':
    case 'max-bytes':
      return `Stopped at --${summary.finishReason} after ${time}${resumed}.`
  }
}

function nothingDone({ finishReason, recrawl }: CrawlSummary): string {
  if (recrawl?.due === 0) return 'No page is due yet; nothing was fetched.'
  return finishReason === 'finished' || finishReason === 'interrupted'
    ? 'This crawl was finished already; nothing was fetched.'
    : `This crawl had stopped at --${finishReason} already; nothing was fetched.`
}

function nextSteps(input: SummaryInput): string[] {
  const { summary, options } = input
  const steps: string[] = []
  if (summary.finishReason !== 'finished' && !isGoneAtEnd(options))
    steps.push(`The same command${summary.finishReason === 'interrupted' ? '' : ' with a higher limit'} goes on.`)
  if (summary.alreadyFinished === true && summary.recrawl === undefined) {
    steps.push('Begin again with --fresh, or go through the known pages with --recrawl.')
    if (options.select.length > 0)
      steps.push('--select changes nothing in items that are there; --fresh makes them anew, from the download cache.')
  }
  return [...steps, ...whereItemsAre(input)]
}

function whereItemsAre(input: SummaryInput): string[] {
  const { summary, options, tasks = [options] } = input
  if (options.output === '-') return []
  if (options.output !== undefined) {
    const files = tasks.slice(0, MAX_FILES).flatMap(({ output }) => (output === undefined ? [] : [output]))
    return [`Items: ${files.join(', ')}${tasks.length > MAX_FILES ? ', …' : ''}`]
  }
  if (summary.pages === 0) return []
  return [
    isGoneAtEnd(options)
      ? 'Items: none are left, since the store was in memory; -o FILE writes them'
      : `Items: spoor export${whereOf(input)} -o pages.jsonl`,
  ]
}

/** The last line when pages failed. */
export function failureLine(input: SummaryInput): string {
  const { summary, options, progress } = input
  const classes = progress.errors ?? {}
  const told = total(classes) === summary.failed ? ` ${tally(classes)};` : ''
  const known = `${plural(summary.failed, 'page')} failed:${told}`
  if (isGoneAtEnd(options)) return known.slice(0, -1)
  return `${known} spoor failures${whereOf(input)} says why, and with --retry queues them again`
}
