/** What Spoor works with: the embedded database, a browser, and the store that is named. */

import { resolve } from 'node:path'
import type { CommandContext } from '../command.ts'
import { plural } from '../text.ts'
import { placeOf, whereFlags } from '../where.ts'
import { type Finding, reasonOf } from './finding.ts'

export async function partFindings(context: CommandContext): Promise<readonly Finding[]> {
  return [await sqliteFinding(), await browserFinding(context), await storeFinding(context)]
}

async function sqliteFinding(): Promise<Finding> {
  const check = 'sqlite'
  try {
    const { sqliteVersion } = await import('../../crawler/checkup.ts')
    return { check, level: 'ok', found: sqliteVersion() }
  } catch (error) {
    const advice = 'install spoor again on this machine, so that the files for its processor come along'
    return { check, level: 'problem', found: reasonOf(error), advice }
  }
}

/** Only pages that are rendered need one: unless it was named, none is no more than a warning. */
async function browserFinding({ options, givenBy }: CommandContext): Promise<Finding> {
  const check = 'browser'
  try {
    const { browserPath } = await import('../../crawler/checkup.ts')
    return { check, level: 'ok', found: await browserPath(options.browser) }
  } catch (error) {
    const level = givenBy.has('browser') ? 'problem' : 'warning'
    return { check, level, found: reasonOf(error), advice: 'needed for --render only' }
  }
}

/** As a crawl opens it: where there is nothing yet, tables are made. */
async function storeFinding({ host, options, givenBy }: CommandContext): Promise<Finding> {
  const check = 'store'
  const { storeTasks } = await import('../../crawler/checkup.ts')
  const { store, task } = options
  const place = placeOf(options)
  try {
    const tasks = await storeTasks({ dir: resolve(host.cwd, options.dir), store, task })
    if (tasks === undefined) return { check, level: 'ok', found: `no crawl in ${place} yet` }
    const how = store === undefined ? 'can be read' : 'can be reached and written'
    return { check, level: 'ok', found: `${place} ${how}, ${plural(tasks.length, 'crawl')}` }
  } catch (error) {
    const advice = givenBy.has('store')
      ? 'see that the server runs, that this machine may reach it, and that the user may make tables'
      : `spoor verify${whereFlags(options)} says more`
    return { check, level: 'problem', found: reasonOf(error), advice }
  }
}
