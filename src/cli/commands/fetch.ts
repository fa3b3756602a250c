/** `spoor fetch URL`: one request, with the trace of redirects, robots and timings. */

import { configError } from '../../config/given.ts'
import type { FetchAnswer } from '../../crawler/contract.ts'
import { formatBytes } from '../../util/format.ts'
import { hideUserinfo } from '../../util/hide-userinfo.ts'
import { runBatch, textField } from '../batch.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { fetchPage, openFetcherOf } from '../page-source.ts'
import { clean } from '../text.ts'
import { robotsText, traceText } from '../trace-text.ts'
import { checkUrl, isHttpUrl } from '../urls.ts'

/** Requests of a batch in flight. */
const PARALLEL = 8

export async function runFetch(context: CommandContext): Promise<ExitCode> {
  const { options, output, positionals } = context
  if (options.batch && options.trace) throw configError('--trace: expected one URL, found --batch')
  if (options.batch) return fetchBatch(context)
  if (options.body && output.json) throw configError('--body: stdout cannot carry both the body and --json')
  const url = checkUrl(positionals[0] ?? '')
  const { answer, body } = await fetchPage(context, url)
  if (options.body) await tellBody(context, answer, body)
  else if (output.json) await output.jsonLine(answer)
  else await output.result(answer.trace === undefined ? fetchText(answer) : traceText(answer.trace))
  if (answer.error === undefined) return EXIT.done
  output.problem(`spoor: ${clean(hideUserinfo(url))}: ${clean(answer.error)}`)
  return EXIT.failed
}

/** As in curl: what was asked for on stdout, how it came on stderr. */
async function tellBody({ output }: CommandContext, { trace }: FetchAnswer, body: Uint8Array): Promise<void> {
  if (trace !== undefined) output.hint(traceText(trace))
  await output.write(body)
}

async function fetchBatch(context: CommandContext): Promise<ExitCode> {
  const { host, output } = context
  const fetcher = await openFetcherOf(context)
  try {
    await runBatch({ host, output, parallel: PARALLEL }, async (input) => {
      const url = textField(input, 'url')
      if (!isHttpUrl(url)) return { url, error: 'expected an http or https URL' }
      return (await fetcher.fetchOnce(url)).answer
    })
  } finally {
    await fetcher.close()
  }
  return EXIT.done
}

export function fetchText(answer: FetchAnswer): string {
  const lines = answer.redirects.map((hop) => `${hop.status}  ${clean(hop.url)}\n     to ${clean(hop.to)}`)
  lines.push(`${answer.status ?? 'no answer'}  ${clean(answer.finalUrl)}`)
  for (const [name, value] of Object.entries(answer.headers))
    for (const one of typeof value === 'string' ? [value] : value) lines.push(`     ${clean(name)}: ${clean(one)}`)
  const timings = Object.entries(answer.timings).map(([name, ms]) => `${name} ${Math.round(ms)}`)
  lines.push(
    `     ${formatBytes(answer.bytes)}${answer.charset === null ? '' : `, ${answer.charset}`}${answer.fromCache ? ', from the cache' : ''}`,
    ...(timings.length > 0 ? [`     ms: ${timings.join(', ')}`] : []),
    ...(answer.robots === undefined ? [] : [`     robots.txt: ${robotsText(answer.robots)}`]),
  )
  return lines.join('\n')
}
