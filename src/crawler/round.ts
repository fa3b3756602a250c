/** What a run of a crawl that is at its end begins with: nothing, its failures, or pages that are to be looked at again. */

import { type RecrawlWord, recrawlModeOf } from '../config/recrawl.ts'
import { CrawlError } from '../core/errors.ts'
import type { CounterName, Frontier, FrontierStats, RequestRecord } from '../frontier/contract.ts'
import type { IntervalBounds, RecrawlMode } from '../recrawl/contract.ts'
import { isDue } from '../recrawl/due.ts'
import { parseVisit } from '../recrawl/visit.ts'
import type { Store } from '../stores/contract.ts'
import type { TaskLaunch } from './launch-options.ts'
import { roundKeyOf } from './task-keys.ts'

/** As the store keeps it until the next one begins. */
export interface Round {
  /** As people write it: `all`, `7d`. */
  readonly mode: RecrawlWord
  readonly startedAtMs: number
  /** What the cache holds from before is confirmed by its servers. */
  readonly asksAnew: boolean
  /** Pages put back into the queue. Undefined: not all have been looked for yet. */
  readonly due?: number
  /** The counters as they were. */
  readonly before: FrontierStats['counters']
}

type RoundLaunch = Pick<TaskLaunch, 'options' | 'reload' | 'joins' | 'clock'>

/** A record page of the store. */
const PAGE = 1000

/**
 * Answers the round that is under way, if any. A run that was interrupted goes on with its round. Processes that join a
 * run find the round begun. Throws CONFIG_INVALID for what the store cannot do.
 */
export async function beginRound(store: Store, launch: RoundLaunch, before: FrontierStats): Promise<Round | undefined> {
  const { state } = store
  const { task } = launch.options
  const kept = parseRound(await state.get(roundKeyOf(task)))
  if (launch.joins === true) return kept
  const wanted = wantedBy(launch)
  if (wanted !== undefined) checkWanted(store, wanted, launch.options.sitemaps)
  const isAtItsEnd = before.known > 0 && before.pending + before.leased === 0
  // nothing has been crawled before all that is due was found: a crash in between looks once more
  const isCut = kept !== undefined && kept.due === undefined
  if (!isAtItsEnd && !isCut) return kept
  if (wanted === undefined) {
    await keepRound(store, task, undefined)
    if (launch.reload === false) await store.frontier.requeue({ task, state: 'failed' })
    return undefined
  }
  const { word: mode, asksAnew } = wanted
  const round: Round = { mode, asksAnew, startedAtMs: launch.clock.nowMs(), before: before.counters }
  await keepRound(store, task, round)
  const due = await requeueDue(store.frontier, launch, wanted.mode)
  const begun = { ...round, due }
  await keepRound(store, task, begun)
  return begun
}

interface Wanted {
  readonly word: RecrawlWord
  readonly mode: RecrawlMode
  readonly asksAnew: boolean
}

export function goesBySitemap({ recrawl }: Pick<TaskLaunch['options'], 'recrawl'>): boolean {
  return recrawlModeOf(recrawl)?.mode.kind === 'sitemap'
}

/** `--recrawl` alone goes by the cache; to look for what is due and then ask nobody would be of no use. */
function wantedBy({ options, reload }: RoundLaunch): Wanted | undefined {
  const named = recrawlModeOf(options.recrawl)
  if (named !== undefined) return { ...named, asksAnew: reload === true || named.mode.kind !== 'all' }
  return reload === true ? { word: 'all', mode: { kind: 'all' }, asksAnew: true } : undefined
}

function checkWanted({ frontier, location }: Store, { mode, word }: Wanted, sitemaps: readonly string[]): void {
  if (mode.kind === 'sitemap' && sitemaps.length === 0) {
    throw new CrawlError('CONFIG_INVALID', {
      context: { problem: '--recrawl sitemap: expected --sitemap URL with it, found none' },
    })
  }
  if (mode.kind === 'all' || frontier.capabilities.visits === true) return
  const problem = `--recrawl ${word}: expected a store that remembers when a page was seen, which is the embedded one, found ${location}; --recrawl alone goes through all pages there`
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
}

export const boundsOf = ({
  recrawlMinMs,
  recrawlMaxMs,
}: Pick<TaskLaunch['options'], 'recrawlMinMs' | 'recrawlMaxMs'>): IntervalBounds => ({
  minMs: recrawlMinMs,
  maxMs: Math.max(recrawlMinMs, recrawlMaxMs),
})

/** Answers how many. */
async function requeueDue(frontier: Frontier, { options, clock }: RoundLaunch, mode: RecrawlMode): Promise<number> {
  const { task } = options
  if (mode.kind === 'all') return frontier.requeue({ task })
  const nowMs = clock.nowMs()
  const bounds = boundsOf(options)
  let due = 0
  for (const state of ['done', 'failed'] as const) {
    let after: string | undefined
    do {
      // oxlint-disable no-await-in-loop -- page by page, so that memory does not grow with the crawl
      const page = await frontier.list({ task, state }, { max: PAGE, ...(after === undefined ? {} : { after }) })
      const ids = page.records.filter((record) => isRecordDue(record, { mode, nowMs, bounds })).map(({ id }) => id)
      if (ids.length > 0) due += await frontier.requeue({ task, ids })
      // oxlint-enable no-await-in-loop
      after = page.next
    } while (after !== undefined)
  }
  return due
}

/** A failed page always is, unless what failed is that it is gone. */
function isRecordDue(
  { state, visit: text }: RequestRecord,
  question: { readonly mode: RecrawlMode; readonly nowMs: number; readonly bounds: IntervalBounds },
): boolean {
  const visit = parseVisit(text)
  if (state === 'failed' && visit?.digest !== undefined) return true
  return isDue({ ...question, visit })
}

/** With the counters since the round began; without one, since the crawl did. */
export function sinceRound(stats: FrontierStats, round: Pick<Round, 'before'> | undefined): FrontierStats {
  if (round === undefined) return stats
  // a round that an older version began knows fewer counters
  const before: Partial<FrontierStats['counters']> = round.before
  const since = Object.entries(stats.counters).map(([name, n]) => [name, n - (before[name as CounterName] ?? 0)])
  return { ...stats, counters: Object.fromEntries(since) as Record<CounterName, number> }
}

/** Found after the round had begun. */
export async function addDue(store: Store, task: string, count: number): Promise<void> {
  const round = parseRound(await store.state.get(roundKeyOf(task)))
  if (round !== undefined) await keepRound(store, task, { ...round, due: (round.due ?? 0) + count })
}

async function keepRound({ state }: Pick<Store, 'state'>, task: string, round: Round | undefined): Promise<void> {
  await state.set({ [roundKeyOf(task)]: round === undefined ? undefined : JSON.stringify(round) })
}

export function parseRound(text: string | undefined): Round | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Round)
}
