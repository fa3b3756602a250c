/** `spoor clear`: forgets a crawl, after asking. */

import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { configError } from '../../config/given.ts'
import { isCrawlError } from '../../core/errors.ts'
import type { CrawlStatus } from '../../crawler/contract.ts'
import { formatCount } from '../../util/format.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { loadLibrary } from '../library.ts'
import { withReader } from '../reading.ts'
import { clean, plural, total } from '../text.ts'
import { placeOf } from '../where.ts'

export async function runClear(context: CommandContext): Promise<ExitCode> {
  const { output, options, host } = context
  const canAsk = isTerminal(host.stdin) && host.stderr.isTTY === true && !output.json
  if (!options.yes && !canAsk)
    throw configError('expected --yes: there is no terminal to ask on, and what is deleted is gone')
  const status = await withReader(context, (reader) => reader.status()).catch(noTask)
  if (status === undefined) {
    if (output.json) await output.jsonLine({ task: options.task, requests: 0, items: 0 })
    output.hint(`Nothing is known of a crawl named ${clean(options.task)} in ${placeOf(options)}.`)
    return EXIT.done
  }
  if (isRunning(status))
    throw configError(`the crawl ${clean(options.task)} is running; stop it first, or wait until its workers are gone`)
  if (!options.yes && !(await confirm(context, status))) {
    output.hint('Nothing was deleted.')
    return EXIT.failed
  }
  const { clearCrawl } = await loadLibrary()
  await clearCrawl({ dir: resolve(host.cwd, options.dir), store: options.store, task: options.task })
  const [requests, items] = [requestsOf(status), status.items ?? 0]
  if (output.json) await output.jsonLine({ task: options.task, requests, items })
  output.hint(
    `Forgotten: ${plural(requests, 'request')} and ${plural(items, 'item')} of the crawl ${clean(options.task)}. The download cache is as it was.`,
  )
  return EXIT.done
}

/** The store is there, the task is not: forgotten already. */
function noTask(error: unknown): undefined {
  if (isCrawlError(error) && error.code === 'CONFIG_INVALID') return undefined
  throw error
}

function requestsOf({ pending, leased, done, failed, skipped }: CrawlStatus): number {
  return pending + leased + done + failed + total(skipped)
}

/** What dead workers held is nobody's. */
function isRunning({ leased, workers }: CrawlStatus): boolean {
  return leased > 0 && workers.some((worker) => worker.alive && worker.leased > 0)
}

function isTerminal(stream: CommandContext['host']['stdin']): boolean {
  return (stream as { readonly isTTY?: boolean }).isTTY === true
}

async function confirm({ host, options }: CommandContext, status: CrawlStatus): Promise<boolean> {
  const { done, failed, pending, leased, items = 0 } = status
  const question = `Forget the crawl ${clean(status.task)} in ${placeOf(options)} (${plural(done, 'page')} done, ${formatCount(failed)} failed, ${formatCount(pending + leased)} waiting, ${plural(items, 'item')})? [y/N] `
  const lines = createInterface({ input: host.stdin, output: host.stderr })
  try {
    // the end of the input is a no as well
    const answer = await new Promise<string>((answered) => {
      lines.once('close', () => {
        answered('')
      })
      lines.question(question, answered)
    })
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
