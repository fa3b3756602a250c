/** `spoor run FILE`: runs what a file exports, or says what it would do. */

import { resolve } from 'node:path'
import { configError } from '../../config/given.ts'
import type { RunFile } from '../../crawler/contract.ts'
import type { DryRun } from '../../crawler/dry-run.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { clean, columns, plural } from '../text.ts'
import { checkUrl } from '../urls.ts'
import { crawlToEnd } from './crawl.ts'

export async function runFile(context: CommandContext): Promise<ExitCode> {
  const { options, positionals, host, givenBy } = context
  const [name = '', ...urls] = positionals
  if (options.json && options.output === '-')
    throw configError('-o -: stdout cannot carry both the items and the summary of --json')
  const file: RunFile = {
    path: resolve(host.cwd, name),
    name,
    urls: urls.map(checkUrl),
    given: [...givenBy.keys()],
    ...(givenBy.has('task') ? { only: options.task } : {}),
  }
  const { planRunFile } = await import('../../crawler/run-file.ts')
  const plan = await planRunFile(file, options)
  if (options.dryRun) {
    const { dryRun } = await import('../../crawler/dry-run.ts')
    return tellDryRun(context, await dryRun(plan.tasks))
  }
  const { startRun } = await import('../../crawler/commands.ts')
  return crawlToEnd({ ...context, options: plan.options }, (extras) => startRun(plan, extras), {
    file,
    tasks: plan.tasks.map((task) => task.options),
  })
}

async function tellDryRun({ output }: CommandContext, tasks: readonly DryRun[]): Promise<ExitCode> {
  if (output.json) {
    await output.jsonLine(tasks)
    return EXIT.done
  }
  for (const { task, rules, seeds, more } of tasks) {
    const lines = seeds.map(({ url, verdict, reason, rule }): [string, string] => [
      `  ${verdict === 'fetch' ? 'fetch' : 'skip '}  ${clean(url)}`,
      verdict === 'fetch' ? (rule === null ? 'no rule takes it' : `rule ${rule}`) : (reason ?? ''),
    ])
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as they stand
    await output.result(
      [
        `${task}: ${more ? `${seeds.length}+ seeds` : plural(seeds.length, 'seed')}${rules.length === 0 ? '' : `, rules ${rules.join(', ')}`}`,
        ...columns(lines),
        ...(more ? ['  … and more'] : []),
      ].join('\n'),
    )
  }
  output.hint('Nothing was sent: robots.txt may still refuse pages, and what pages link to is not known.')
  return EXIT.done
}
