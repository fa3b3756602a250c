/** `spoor verify`: checks the invariants of a data folder. */

import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { withAnyReader } from '../reading.ts'
import { plural } from '../text.ts'
import { placeOf } from '../where.ts'

export async function runVerify(context: CommandContext): Promise<ExitCode> {
  const { output, options } = context
  const { ok, problems } = await withAnyReader(context, (reader) => reader.verify())
  if (output.json) await output.jsonLine({ ok, problems })
  else if (ok) await output.result(`${placeOf(options)}: sound`)
  else for (const problem of problems) await output.result(problem)
  if (!ok) output.problem(`spoor: ${plural(problems.length, 'invariant')} broken in ${placeOf(options)}`)
  return ok ? EXIT.done : EXIT.failed
}
