/** `spoor robots URL`: what robots.txt says of a URL, and the rule it rests on. */

import type { FetchAnswer } from '../../crawler/contract.ts'
import type { RobotsVerdict } from '../../robots/contract.ts'
import { bytesOrText, optionalField, runBatch, textField } from '../batch.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { fetchPage, readFileBytes } from '../page-source.ts'
import { clean } from '../text.ts'
import { checkUrl } from '../urls.ts'

export async function runRobots(context: CommandContext): Promise<ExitCode> {
  const { options, output, host, positionals } = context
  const { robotsAnswer } = await import('../../crawler/answers.ts')
  const agent = options.agent ?? options.robotsAgent
  if (options.batch) {
    await runBatch({ host, output }, (input) =>
      robotsAnswer(
        bytesOrText(input, { text: 'robots', base64: 'robotsBase64' }),
        textField(input, 'url'),
        optionalField(input, 'agent') ?? agent,
      ),
    )
    return EXIT.done
  }
  const url = checkUrl(positionals[0] ?? '')
  const file = await robotsFile(context, url)
  const answer = 'error' in file ? file : robotsAnswer(file.body, url, agent)
  if (output.json) await output.jsonLine(answer)
  if ('error' in answer) {
    output.problem(`spoor: ${clean(answer.error)}`)
    return EXIT.failed
  }
  if (!output.json) await output.result(robotsText(answer, file.source))
  return EXIT.done
}

type RobotsFile =
  { readonly body: Uint8Array; readonly source: string } | { readonly error: string; readonly source: string }

/** RFC 9309, 2.3.1: a 4xx answer is a file without rules; 5xx, 429 and no answer are no file at all. */
async function robotsFile(context: CommandContext, url: string): Promise<RobotsFile> {
  const { options, host } = context
  if (options.file !== undefined) return { body: await readFileBytes(host, options.file), source: options.file }
  const source = new URL('/robots.txt', url).href
  const { answer, body } = await fetchPage(context, source)
  if (isRules(answer)) return { body, source }
  if (isNoFile(answer)) return { body: new Uint8Array(), source }
  const why = answer.error ?? `HTTP ${answer.status ?? 'nothing'}`
  return { error: `${source} cannot be had, so nothing of the host may be fetched for now: ${why}`, source }
}

const isRules = ({ status, error }: FetchAnswer): boolean => error === undefined && status !== null && status < 300

const isNoFile = ({ status }: FetchAnswer): boolean =>
  status !== null && status >= 300 && status < 500 && status !== 429

export function robotsText(verdict: RobotsVerdict, source: string): string {
  return [
    verdict.allowed ? 'allowed' : 'disallowed',
    verdict.rule === null
      ? '  no rule matches'
      : `  rule: ${clean(verdict.rule)} (line ${verdict.line ?? '?'} of ${clean(source)})`,
    `  group: ${verdict.group === null ? 'none for this agent' : clean(verdict.group)}`,
    ...(verdict.crawlDelay === null ? [] : [`  crawl delay: ${verdict.crawlDelay} s`]),
    ...verdict.sitemaps.map((sitemap) => `  sitemap: ${clean(sitemap)}`),
  ].join('\n')
}
