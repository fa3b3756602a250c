/** `spoor canon`: canonical form and fingerprint of URLs. */

import type { CanonAnswer } from '../../crawler/answers.ts'
import { optionalField, runBatch, textField } from '../batch.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { clean } from '../text.ts'

/** A URL that has no canonical form is an answer, and gives exit status 1 unless it was one of a batch. */
export async function runCanon({ host, output, options, positionals }: CommandContext): Promise<ExitCode> {
  const { canonAnswer } = await import('../../crawler/answers.ts')
  if (options.batch) {
    await runBatch({ host, output }, (input) =>
      canonAnswer(textField(input, 'url'), { base: optionalField(input, 'base') ?? options.base }),
    )
    return EXIT.done
  }
  let bad = 0
  for (const input of positionals) {
    const answer = canonAnswer(input, { base: options.base })
    if (answer.error !== undefined) bad += 1
    if (output.json) await output.jsonLine(answer)
    else await output.result(canonText(answer))
  }
  return bad > 0 ? EXIT.failed : EXIT.done
}

export function canonText(answer: CanonAnswer): string {
  if (answer.error !== undefined) return `${clean(answer.input)}\n  error: ${clean(answer.error)}`
  return `${answer.canonical ?? ''}\n  fingerprint ${answer.fingerprint ?? ''}, host ${answer.host ?? ''}`
}
