/** What is said at the end of a crawl: what happened, where the results are, what to do next. */

import type { ResolvedOptions } from '../config/options.ts'
import type { CrawlSummary, ProgressSnapshot } from '../crawler/contract.ts'
import { formatBytes, formatDuration } from '../util/format.ts'
import { columns, plural, tally, total } from './text.ts'

export interface SummaryInput {
  readonly summary: CrawlSummary
  readonly options: ResolvedOptions
  readonly progress: ProgressSnapshot
}

const SAFE_WORD = /^[\w@%+=:,./-]+$/

/** An argument as a shell reads it back. */
export const shellWord = (text: string): string => (SAFE_WORD.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** `--dir x --task y` as far as they are not the defaults: what makes a hint work when it is pasted. */
export function whereFlags(options: ResolvedOptions): string {
  const dir = options.dir === 'spoor-data' ? '' : ` --dir ${shellWord(options.dir)}`
  return `${dir}${options.task === 'default' ? '' : ` --task ${shellWord(options.task)}`}`
}

export function summaryText({ summary, options }: SummaryInput): string {
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
    ...(summary.failed > 0
      ? [['  failed', plural(summary.failed, 'page'), `spoor failures${whereFlags(options)}`]]
      : []),
  ]
  return [headline(summary), ...columns(rows), ...nextSteps(summary, options)].join('\n')
}

function headline(summary: CrawlSummary): string {
  const time = formatDuration(summary.seconds * 1000)
  if (summary.alreadyFinished === true) return 'This crawl was finished already; nothing was fetched.'
  const resumed = summary.resumed === true ? ' (it went on where it had stopped)' : ''
  switch (summary.finishReason) {
    case 'finished':
      return `Finished in ${time}${resumed}.`
    case 'interrupted':
      return `Interrupted after ${time}; nothing is lost.`
    case 'max-pages':
    case 'max-time':
    case 'max-bytes':
      return `Stopped at --${summary.finishReason} after ${time}${resumed}.`
  }
}

function nextSteps(summary: CrawlSummary, options: ResolvedOptions): string[] {
  const where = whereFlags(options)
  const steps: string[] = []
  if (summary.finishReason === 'interrupted') steps.push('The same command goes on.')
  else if (summary.finishReason !== 'finished') steps.push('The same command with a higher limit goes on.')
  if (summary.alreadyFinished === true)
    steps.push('Begin again with --fresh, or go through the known pages with --recrawl.')
  if (options.output === undefined && summary.pages > 0) steps.push(`Items: spoor export${where} -o pages.jsonl`)
  else if (options.output !== undefined && options.output !== '-') steps.push(`Items: ${options.output}`)
  return steps
}

/** The last line when pages failed. */
export function failureLine({ summary, options, progress }: SummaryInput): string {
  const classes = progress.errors ?? {}
  const told = total(classes) === summary.failed ? ` ${tally(classes)};` : ''
  const where = whereFlags(options)
  return `${plural(summary.failed, 'page')} failed:${told} spoor failures${where} says why, and with --retry queues them again`
}
