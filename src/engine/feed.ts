/** Feeds seeds into the frontier in batches, no faster than it takes them. */

import type { Clock } from '../core/clock.ts'
import type { StoredRequest } from '../core/request.ts'
import type { Frontier } from '../frontier/contract.ts'
import type { Door, RequestDraft } from './contract.ts'

export type SeedEntry = string | RequestDraft | ListedUrl | { readonly problem: string }

/** A URL that somebody lists (a sitemap): level 0 as a seed, but only in the scope that the seeds make. */
export interface ListedUrl extends RequestDraft {
  readonly listed: true
}
export type Seeds = AsyncIterable<SeedEntry> | Iterable<SeedEntry>

export interface FeedOptions {
  readonly seeds: Seeds
  readonly door: Door
  readonly frontier: Frontier
  readonly clock: Clock
  /** Called for each entry that is no URL. */
  readonly onProblem: (problem: string) => void
  readonly onAdded: () => void
  /** Something is being crawled: what adds seeds leaves most of the time to it. Default: never. */
  readonly isBusy?: () => boolean
  readonly signal: AbortSignal
}

export interface FeedEnd {
  /** Entries that were URLs. */
  readonly seeds: number
  /** Of these, requests that the frontier did not know. */
  readonly added: number
}

/** Large enough to make one transaction worth it. */
const MAX_BATCH = 512
const MIN_BATCH = 32
/** A batch that takes longer holds up what crawls: the next one is smaller. */
const LONG_ADD_MS = 20
/** Of the time, adding takes one part in so many while the crawl is busy: a million seeds are fed in minutes, unnoticed. */
const BUSY_SHARE = 5
/** A slow source does not hold back what it has given already. */
const STALL_MS = 50

/**
 * Resolves when the source has ended, or the signal has aborted: a source that waits (a pipe that stays open) is not
 * waited for. Nothing is being added any more then. Rejects with what the source threw.
 */
export async function feedSeeds(options: FeedOptions): Promise<FeedEnd> {
  const { door, frontier, clock, signal } = options
  let batch: StoredRequest[] = []
  let adding: Promise<void> = Promise.resolve()
  let cancelStall: (() => void) | undefined
  let seeds = 0
  let added = 0

  const pace = createPace(options)
  const add = async (requests: readonly StoredRequest[]): Promise<void> => {
    const answers = await pace.timed(() => frontier.add(requests))
    door.note(requests)
    added += answers.filter((answer) => answer !== 'known').length
    options.onAdded()
  }
  const flush = (): Promise<void> => {
    cancelStall?.()
    cancelStall = undefined
    const requests = batch
    batch = []
    if (requests.length > 0) adding = adding.then(() => add(requests))
    return adding
  }
  const take = (entry: SeedEntry): void => {
    const admitted = admit(door, typeof entry === 'string' ? { url: entry } : entry)
    if (admitted === undefined) return
    if ('problem' in admitted) {
      options.onProblem(admitted.problem)
      return
    }
    seeds++
    batch.push(admitted)
  }

  try {
    for await (const entry of untilAborted(options.seeds, signal)) {
      take(entry)
      if (batch.length >= pace.batch()) {
        await flush()
        await pace.rest()
      } else
        cancelStall ??= clock.timer(STALL_MS, () => {
          flush().catch(() => undefined) // seen again where it is awaited
        })
    }
  } finally {
    cancelStall?.()
    await (signal.aborted ? adding.catch(() => undefined) : flush())
  }
  return { seeds, added }
}

interface Pace {
  /** Seeds to be added at once. */
  batch(): number
  timed<T>(work: () => Promise<T>): Promise<T>
  /** Leaves the time to others, if they need it. */
  rest(): Promise<void>
}

function createPace({ clock, signal, isBusy = () => false }: FeedOptions): Pace {
  let size = MAX_BATCH
  let tookMs = 0
  return {
    batch: () => size,
    async timed(work) {
      const startedAtMs = clock.monotonicMs()
      const result = await work()
      tookMs = clock.monotonicMs() - startedAtMs
      size = tookMs > LONG_ADD_MS && isBusy() ? Math.max(MIN_BATCH, size / 2) : Math.min(MAX_BATCH, size * 2)
      return result
    },
    async rest() {
      if (isBusy() && !signal.aborted) await clock.sleep(tookMs * (BUSY_SHARE - 1), signal)
    },
  }
}

/** Ends with the signal, whatever the source is waiting for. */
async function* untilAborted(seeds: Seeds, signal: AbortSignal): AsyncGenerator<SeedEntry> {
  const iterator = Symbol.asyncIterator in seeds ? seeds[Symbol.asyncIterator]() : seeds[Symbol.iterator]()
  let wake: (() => void) | undefined
  // one listener for all entries: a race against one promise would keep a reaction for each of a million
  const onAbort = (): void => wake?.()
  signal.addEventListener('abort', onAbort, { once: true })
  const next = (): Promise<IteratorResult<SeedEntry, unknown> | undefined> =>
    new Promise((resolve, reject) => {
      wake = () => {
        resolve(undefined)
      }
      Promise.resolve(iterator.next()).then(resolve, reject)
    })
  let ended = false
  try {
    while (!signal.aborted) {
      const entry = await next()
      ended = entry?.done === true
      if (entry === undefined || entry.done === true) return
      yield entry.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // not waited for: a source in the middle of a wait hears of it only after that
    if (!ended) void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

/** Undefined: known already, so that nothing is to be added. */
function admit(
  door: Door,
  entry: Exclude<SeedEntry, string>,
): StoredRequest | { readonly problem: string } | undefined {
  if ('problem' in entry) return entry
  if ('listed' in entry) {
    const { url, listed: _listed, ...draft } = entry
    const answer = door.admit({ url, depth: 0, draft })
    return typeof answer === 'object' ? answer : undefined
  }
  const answer = door.admitSeed(entry)
  return 'problem' in answer ? { problem: `${quote(entry.url)}: ${answer.problem}` } : answer
}

const quote = (url: string): string => JSON.stringify(url.length > 120 ? `${url.slice(0, 120)}…` : url)
