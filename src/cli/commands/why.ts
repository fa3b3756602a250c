/** `spoor why URL`: what the crawl knows of a URL, and why it was or was not fetched. */

import type { SkipReason } from '../../core/outcome.ts'
import type { WhyAnswer } from '../../crawler/contract.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { withReader } from '../reading.ts'
import { clean, cleanLines } from '../text.ts'

export async function runWhy(context: CommandContext): Promise<ExitCode> {
  const { output, positionals } = context
  const answer = await withReader(context, (reader) => reader.why(positionals[0] ?? ''))
  if (output.json) await output.jsonLine(answer)
  else await output.result(whyText(answer))
  return EXIT.done
}

/** What each reason of a skip means, in words. */
const REASONS: Readonly<Record<SkipReason, string>> = {
  robots: 'robots.txt of the host does not allow it (spoor robots URL shows the rule)',
  scope: 'it lies outside the scope of the crawl (--scope)',
  depth: 'it lies deeper than --depth',
  duplicate: 'it is another name of a page that the crawl has',
  trap: 'it looks like part of a crawler trap (--no-traps lets it through)',
  nofollow: 'every link to it says nofollow',
  filtered: '--match, --exclude or a hook leaves it out',
  'private-address': 'it is at a private address (--allow-private lets it through)',
  'url-too-long': 'it is longer than --max-url',
  'invalid-url': 'it is no URL that can be fetched',
  limit: 'a limit of the crawl was reached',
  handler: 'it was fetched, and its handler decided to skip it',
}

export function whyText(answer: WhyAnswer): string {
  const lines = [clean(answer.url), `  ${sentence(answer)}`]
  if (answer.canonical !== '' && answer.canonical !== answer.url)
    lines.push(`  canonical form: ${clean(answer.canonical)}`)
  if (answer.aliasOf !== undefined) lines.push(`  the crawl has it as: ${clean(answer.aliasOf)}`)
  if (answer.finalUrl !== undefined && answer.finalUrl !== answer.url)
    lines.push(`  redirected to: ${clean(answer.finalUrl)}`)
  if (answer.rule !== undefined) lines.push(`  rule that fired: ${clean(answer.rule)}`)
  if (answer.depth !== null) lines.push(`  depth: ${answer.depth}`)
  if (answer.parent !== null) lines.push(`  found on: ${clean(answer.parent)}`)
  for (const attempt of answer.attempts) lines.push(`  ${attempt.at}  ${cleanLines(attempt.error, '    ')}`)
  return lines.join('\n')
}

/** A store that a later version has written may know others. */
const isSkipReason = (reason: string | null): reason is SkipReason => reason !== null && Object.hasOwn(REASONS, reason)

function sentence({ state, reason, status }: WhyAnswer): string {
  const known = clean(reason ?? 'for no reason that was kept')
  switch (state) {
    case 'done':
      return `fetched${status === undefined ? '' : `, HTTP ${status}`}: it is among the pages`
    case 'failed':
      return `failed: ${known}`
    case 'skipped':
      return `${reason === 'handler' ? 'skipped' : 'not fetched'} (${known})${isSkipReason(reason) ? `: ${REASONS[reason]}` : ''}`
    case 'pending':
      return 'waiting to be fetched'
    case 'leased':
      return 'being fetched now, or by a worker that is gone'
    case 'unknown':
      return `unknown: ${reason === null ? 'no page of this crawl links to it' : known}`
  }
}
