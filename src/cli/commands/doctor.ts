/** `spoor doctor`: looks at the machine as a crawl would meet it, and says what to do. */

import { resolve } from 'node:path'
import type { CommandContext } from '../command.ts'
import { type Finding, findingText } from '../doctor/finding.ts'
import { folderFindings } from '../doctor/folder.ts'
import { machineFindings } from '../doctor/machine.ts'
import { partFindings } from '../doctor/parts.ts'
import { webFindings } from '../doctor/web.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { plural } from '../text.ts'
import { checkUrl } from '../urls.ts'

export async function runDoctor(context: CommandContext): Promise<ExitCode> {
  const { host, options, output, positionals } = context
  const [given] = positionals
  const url = given === undefined ? undefined : checkUrl(given)
  const findings: Finding[] = [
    ...(await machineFindings(host)),
    ...(await folderFindings(resolve(host.cwd, options.dir))),
    ...(await partFindings(context)),
    ...(url === undefined ? [] : await webFindings(context, url)),
  ]
  const problems = findings.filter(({ level }) => level === 'problem').length
  if (output.json) await output.jsonLine({ ok: problems === 0, findings })
  else await output.result(findings.map(findingText).join('\n'))
  if (problems === 0) return EXIT.done
  output.problem(`spoor: ${plural(problems, 'problem')} found`)
  return EXIT.failed
}
