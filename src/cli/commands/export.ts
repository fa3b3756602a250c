/** `spoor export -o FILE`: all items, from the store. */

import { resolve } from 'node:path'
import { configError } from '../../config/given.ts'
import { partOf } from '../../config/parse.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { withReader } from '../reading.ts'
import { plural } from '../text.ts'
import { checkParts } from './crawl.ts'

export async function runExport(context: CommandContext): Promise<ExitCode> {
  const { output, options, host } = context
  const file = options.output
  if (file === undefined) throw configError('expected -o FILE (.jsonl, .csv, .sqlite, .parquet, or - for stdout)')
  const toStdout = file === '-'
  if (toStdout && output.json) throw configError('-o -: stdout cannot carry both the items and the answer of --json')
  checkParts(options)
  const count = await withReader(context, (reader) =>
    reader.exportTo({
      file: toStdout ? file : resolve(host.cwd, file),
      format: options.format,
      rotate: options.outputRotate === undefined ? undefined : partOf(options.outputRotate),
      writeOutput: output.write,
    }),
  )
  if (output.json) await output.jsonLine({ file, items: count })
  else output.hint(`${plural(count, 'item')} written to ${toStdout ? 'stdout' : file}`)
  return EXIT.done
}
