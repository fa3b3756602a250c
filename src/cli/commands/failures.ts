/** `spoor failures`: lists failed requests with every attempt, and queues them again on request. */

import type { FailureEntry, FailureFilter } from '../../crawler/contract.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { withReader } from '../reading.ts'
import { clean, cleanLines, plural } from '../text.ts'
import { whereFlags } from '../where.ts'

export async function runFailures(context: CommandContext): Promise<ExitCode> {
  const { output, options } = context
  const filter: FailureFilter = {
    ...(options.onlyStatus === undefined ? {} : { status: options.onlyStatus }),
    ...(options.onlyHost === undefined ? {} : { host: options.onlyHost.toLowerCase() }),
  }
  return withReader(context, async (reader) => {
    let count = 0
    for await (const entry of reader.failures(filter)) {
      count += 1
      if (output.json) await output.jsonLine(entry)
      else await output.result(failureText(entry))
    }
    if (options.retryFailures) {
      const queued = await reader.retryFailures(filter)
      output.hint(`${plural(queued, 'request')} queued again; spoor crawl${whereFlags(options)} takes them up`)
    } else if (count > 0) output.hint(`${plural(count, 'failed request')}; --retry queues them again`)
    else output.hint('No failed requests.')
    return EXIT.done
  })
}

export function failureText(entry: FailureEntry): string {
  const status = entry.status === null ? '' : ` (HTTP ${entry.status})`
  const attempts = entry.attempts.map((attempt) => `    ${attempt.at}  ${cleanLines(attempt.error, '      ')}`)
  return [
    clean(entry.url),
    `  ${entry.reason}${status}, ${plural(entry.attempts.length, 'attempt')}`,
    ...attempts,
  ].join('\n')
}
