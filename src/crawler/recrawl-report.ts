/** What a round over known pages has found so far. */

import type { Store } from '../stores/contract.ts'
import type { FrontierStats } from '../frontier/contract.ts'
import type { RecrawlReport } from './contract.ts'
import { parseRound } from './round.ts'
import { roundKeyOf } from './task-keys.ts'

/** Undefined: there was no round, or its store does not remember pages. */
export async function readRecrawl(
  { state, frontier }: Pick<Store, 'state' | 'frontier'>,
  task: string,
  { counters }: Pick<FrontierStats, 'counters'>,
): Promise<RecrawlReport | undefined> {
  const round = parseRound(await state.get(roundKeyOf(task)))
  if (round === undefined || frontier.capabilities.visits !== true) return undefined
  const { mode, startedAtMs, due = 0, before } = round
  return {
    mode,
    startedAt: new Date(startedAtMs).toISOString(),
    due,
    new: counters.newPages - before.newPages,
    changed: counters.changedPages - before.changedPages,
    unchanged: counters.unchangedPages - before.unchangedPages,
    gone: counters.gonePages - before.gonePages,
  }
}

/** Of several tasks. Undefined: none has one. */
export function sumOfReports(reports: readonly (RecrawlReport | undefined)[]): RecrawlReport | undefined {
  const some = reports.filter((report) => report !== undefined)
  const [first, ...others] = some
  if (first === undefined) return undefined
  return others.reduce<RecrawlReport>(
    (sum, next) => ({
      mode: sum.mode === next.mode ? sum.mode : 'various',
      startedAt: sum.startedAt < next.startedAt ? sum.startedAt : next.startedAt,
      due: sum.due + next.due,
      new: sum.new + next.new,
      changed: sum.changed + next.changed,
      unchanged: sum.unchanged + next.unchanged,
      gone: sum.gone + next.gone,
    }),
    first,
  )
}
