/** `spoor crawl`: starts a crawl or goes on with one, shows it, and sums it up. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { configError } from '../../config/given.ts'
import type { ResolvedOptions } from '../../config/options.ts'
import { storeKindOf } from '../../config/store-url.ts'
import type { CrawlOptions, CrawlRun, CrawlSummary, ForceStart, RunFile } from '../../crawler/contract.ts'
import type { CommandContext } from '../command.ts'
import { openCrawlDashboard } from '../crawl-dashboard.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { loadLibrary } from '../library.ts'
import { showProgress } from '../progress.ts'
import { watchInterrupts } from '../signals.ts'
import { failureLine, type SummaryInput, summaryText } from '../summary.ts'
import { clean } from '../text.ts'
import { checkUrl } from '../urls.ts'
import { isGoneAtEnd } from '../where.ts'

/** How long an abort may take before the command leaves without it. */
const ABORT_GRACE_MS = 5_000

export async function runCrawl(context: CommandContext): Promise<ExitCode> {
  const { options, positionals, host } = context
  if (options.json && options.output === '-')
    throw configError('-o -: stdout cannot carry both the items and the summary of --json')
  const seeds = positionals.map(checkUrl)
  const named = seeds.length + options.seedFiles.length + options.sitemaps.length
  if (named === 0 && !existsSync(resolve(host.cwd, options.dir)))
    throw configError(
      `expected a URL, --seeds or --sitemap, or a crawl to go on with in ${options.dir}; found none of them (see spoor crawl --help)`,
    )
  return crawlSeeds(context, seeds)
}

/** What is written to a stream cannot be cut into files. */
export function checkParts({ output, outputRotate }: Pick<CommandContext['options'], 'output' | 'outputRotate'>): void {
  if (output === '-' && outputRotate !== undefined)
    throw configError('--output-rotate: expected -o FILE with it, found -o -, which has no parts')
}

/** Runs the crawl of the options to its end. */
export async function crawlSeeds(context: CommandContext, seeds: readonly string[]): Promise<ExitCode> {
  const { startCrawl } = await loadLibrary()
  return crawlToEnd(context, (extras) => startCrawl({ ...context.options, ...extras, seeds }))
}

/** What the command gives to a run. */
export type RunExtras = Omit<CrawlOptions, keyof ResolvedOptions | 'seeds'>

/** What `spoor run` carries out. */
interface RunOfFile {
  /** What worker processes load. */
  readonly file: RunFile
  /** Of each task. */
  readonly tasks: readonly ResolvedOptions[]
}

/** Starts a crawl, shows it, and sums it up. */
export async function crawlToEnd(
  context: CommandContext,
  start: (extras: RunExtras) => CrawlRun,
  ofFile?: RunOfFile,
): Promise<ExitCode> {
  const { options, host, output } = context
  checkParts(options)
  if (options.processes !== 1 && options.store !== undefined && storeKindOf(options.store) === 'memory')
    throw configError(
      `--processes ${options.processes}: expected 1 with --store memory:, which no other process sees; leave --store out to share the folder ${options.dir}`,
    )
  const { startPool } = await import('../../cluster/supervisor.ts')
  const pool = {
    processes: options.processes,
    clock: host.clock,
    env: host.env,
    ...(ofFile === undefined ? {} : { file: ofFile.file }),
  }
  const dashboard = await openCrawlDashboard(context)
  const run = start({
    stdin: host.stdin,
    writeOutput: output.write,
    env: host.env,
    ...(dashboard === undefined ? {} : { onEvent: dashboard.feed.event }),
    ...(options.processes === 1
      ? {}
      : {
          openForce: (force: ForceStart) => startPool(force, pool),
        }),
    onWarning: (message) => {
      output.hint(clean(message))
      dashboard?.feed.warning(message)
    },
    onWait: (message) => {
      output.problem(`spoor: ${clean(message)}`)
      dashboard?.feed.warning(message)
    },
    onLog: (line) => {
      output.log(line)
      dashboard?.feed.log(line)
    },
  })
  dashboard?.attach(run)
  const summary = await followRun(context, run).finally(() => dashboard?.close())
  if (summary === undefined) {
    output.problem(`spoor: stopped at once${isGoneAtEnd(options) ? '' : '; the same command goes on'}`)
    return EXIT.interrupted
  }
  return tellSummary(context, { summary, options, progress: run.progress(), tasks: ofFile?.tasks ?? [options] })
}

async function followRun({ host, output }: CommandContext, run: CrawlRun): Promise<CrawlSummary | undefined> {
  const aborted = new AbortController()
  const unwatch = watchInterrupts(host, {
    stop: () => {
      output.hint('Stopping: what is in flight is finished first. Ctrl-C again stops at once.')
      run.stop()
    },
    abort: () => {
      run.abort()
      aborted.abort()
    },
  })
  // nobody reads the items any more: no reason to fetch on
  output.onGone(() => {
    run.stop()
  })
  const display = showProgress({ output, clock: host.clock, snapshot: () => run.progress() })
  try {
    return await Promise.race([run.done, leaveAfter(host, aborted.signal)])
  } finally {
    display.close()
    unwatch()
  }
}

/** Resolves some seconds after the signal: an abort that hangs must not hold the terminal. */
function leaveAfter({ clock }: CommandContext['host'], signal: AbortSignal): Promise<undefined> {
  return new Promise((leave) => {
    signal.addEventListener('abort', () => {
      clock.timer(
        ABORT_GRACE_MS,
        () => {
          leave(undefined)
        },
        true,
      )
    })
  })
}

async function tellSummary({ output, options }: CommandContext, input: SummaryInput): Promise<ExitCode> {
  const { summary } = input
  output.hint(summaryText(input))
  if (options.json) await output.jsonLine(summaryJson(summary))
  if (summary.failed > 0 && !options.okWithFailures) output.problem(failureLine(input))
  return exitOf(summary, options)
}

function summaryJson(summary: CrawlSummary): unknown {
  const { task, finishReason, pages, failed, skipped, duplicates, bytes, seconds, fromCache, ...more } = summary
  return { task, finishReason, pages, failed, skipped, duplicates, bytes, seconds, fromCache, ...more }
}

function exitOf(summary: CrawlSummary, options: ResolvedOptions): ExitCode {
  if (summary.finishReason === 'interrupted') return EXIT.interrupted
  return summary.failed > 0 && !options.okWithFailures ? EXIT.failed : EXIT.done
}
