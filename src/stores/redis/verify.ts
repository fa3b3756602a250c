/** The invariants of the store, counted anew in windows; what looks wrong is looked at again on one snapshot. */

import { pairsOf } from './encode.ts'
import type { Session } from './session.ts'

const ROWS_WINDOW = '500'
const HOSTS_WINDOW = '200'
const MOST_PROBLEMS = 40

/** What is kept of one task, to be compared with what is found: its name, number, totals, levels, items. */
type Kept = readonly [
  name: string,
  parts: readonly [id: number, totals: readonly string[], levels: readonly string[], items: number],
]

/** What one pass has found. */
interface Count {
  readonly problems: string[]
  readonly sums: Map<string, number>
  kept: readonly Kept[]
}

/**
 * Others may work on the store meanwhile: windows that do not fit together prove nothing then. So a problem counts only
 * when one script that sees everything finds it, too: half a second of the server for 100,000 requests.
 */
export async function verifyStore(session: Session): Promise<string[]> {
  const windows: Count = { problems: [], sums: new Map(), kept: [] }
  await count(session, windows, ['kept', '', '', ''])
  for (const [task] of windows.kept) {
    for (let place = '0'; place !== '';) place = await count(session, windows, ['rows', task, place, ROWS_WINDOW])
  }
  for (let cursor = '0'; cursor !== '';) cursor = await count(session, windows, ['hosts', '', cursor, HOSTS_WINDOW])
  await count(session, windows, ['leases', '', '', ''])
  if (problemsOf(windows).length === 0) return []
  const snapshot: Count = { problems: [], sums: new Map(), kept: [] }
  await count(session, snapshot, ['all', '', '', ROWS_WINDOW])
  return problemsOf(snapshot)
}

/** Adds one window to the count; answers where the next one begins. */
async function count(session: Session, into: Count, args: readonly string[]): Promise<string> {
  const [found, pairs, next, kept] = await session.ask('verify', args)
  into.problems.push(...(found as string[]))
  for (const [key, n] of pairsOf(pairs)) into.sums.set(key, (into.sums.get(key) ?? 0) + Number(n))
  into.kept = [...into.kept, ...(kept as Kept[])]
  return String(next)
}

function problemsOf({ problems, sums, kept }: Count): string[] {
  const all = [...problems]
  for (const [task, [id, totals, levels, items]] of kept) {
    const sumOf = (name: string): number => sums.get(`${id}|${name}`) ?? 0
    all.push(...wrongCounts(task, { id, sums, kept: [...pairsOf(totals).filter(isTotal), ...pairsOf(levels)] }))
    if (sumOf('items') !== items) all.push(`Task ${task} has ${items} items, but its requests count ${sumOf('items')}`)
    if (sumOf('ready') !== sumOf('queued')) {
      all.push(`The queues of task ${task} hold ${sumOf('queued')} requests, but ${sumOf('ready')} belong there`)
    }
  }
  for (const host of new Set([...sums.keys()].filter((key) => /^(inFlight|held)\|/.test(key)).map(behindBar))) {
    const [counted, held] = [sums.get(`inFlight|${host}`) ?? 0, sums.get(`held|${host}`) ?? 0]
    if (counted !== held) all.push(`Host ${host} counts ${counted} in flight, but ${held} are leased`)
  }
  return all.slice(0, MOST_PROBLEMS)
}

function behindBar(key: string): string {
  return key.slice(key.indexOf('|') + 1)
}

const TOTALS = new Set(['pending', 'leased', 'done', 'failed', 'skipped', 'hosts'])

function isTotal([name]: [string, string]): boolean {
  return TOTALS.has(name)
}

/** Sums that have no count of their own. */
const OTHERS = new Set(['known', 'items', 'ready', 'queued'])

interface Compared {
  readonly id: number
  readonly sums: ReadonlyMap<string, number>
  readonly kept: readonly [string, string][]
}

function wrongCounts(task: string, { id, sums, kept }: Compared): string[] {
  const counted = new Map(kept.map(([name, n]) => [name, Number(n)]))
  const own = [...sums.keys()].filter((key) => key.startsWith(`${id}|`)).map(behindBar)
  return [...new Set([...counted.keys(), ...own])]
    .filter((name) => !OTHERS.has(name) && (counted.get(name) ?? 0) !== (sums.get(`${id}|${name}`) ?? 0))
    .map((name) => {
      const what = name.replace('|', ' ')
      return `Task ${task} counts ${counted.get(name) ?? 0} ${what}, but ${sums.get(`${id}|${name}`) ?? 0} are`
    })
}
