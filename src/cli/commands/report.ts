/** `spoor report`: a crawl as one page of HTML. */

import { extname } from 'node:path'
import { configError } from '../../config/given.ts'
import { packageVersion } from '../../util/package-version.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { withReader } from '../reading.ts'
import { writeResult } from '../write-result.ts'
import { NO_LINKS } from './graph.ts'

export async function runReport(context: CommandContext): Promise<ExitCode> {
  const { host, output, options } = context
  const { output: file } = options
  if (file === undefined) throw configError('expected -o FILE.html, or - for stdout')
  if (!['', '.html', '.htm'].includes(extname(file).toLowerCase()))
    throw configError(`the report is a page of HTML: expected -o FILE.html, found ${file}`)
  if (file === '-' && output.json) throw configError('-o -: stdout cannot carry both the page and the answer of --json')
  await withReader(context, async (reader) => {
    const graph = await reader.graph()
    if (!graph.hasLinks) output.hint(NO_LINKS)
    const writtenAt = new Date(host.clock.nowMs()).toISOString()
    await writeResult(context, file, graph.report({ writtenAt, version: packageVersion() }))
  })
  if (output.json) await output.jsonLine({ file })
  else if (file !== '-') output.hint(`the report is written to ${file}`)
  return EXIT.done
}
