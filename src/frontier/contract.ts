/** The set of all requests a crawl knows, and the order in which they come out. */

import type { FailedAttempt, Outcome, SkipReason } from '../core/outcome.ts'
import type { RequestState, StoredRequest } from '../core/request.ts'
import type { PageLinks } from '../graph/contract.ts'
import type { HostReport, HostSignal } from '../politeness/contract.ts'
import type { ItemDraft } from '../items/contract.ts'

/** What a store can do. The conformance suite reads it to choose its tests; users read it to choose a store. */
export interface FrontierCapabilities {
  /** Survives a crash of the process: what `add` and `settle` acknowledged is on disk. */
  readonly durable: boolean
  /** Several processes, perhaps on several machines, may lease from it at once. */
  readonly shared: boolean
  /** Gives unpaced leases. */
  readonly unpaced?: true
  /** Keeps `visit` of settlements, and takes `ids` in a filter. */
  readonly visits?: true
  /** `settle` is one transaction; otherwise its writes are idempotent and the outcome is the last of them. */
  readonly transactional: boolean
}

/** The settings of a task that the frontier itself acts on. Opening a task again replaces them. */
export interface TaskSettings {
  readonly name: string
  /** Breadth-first: smaller depth first. Depth-first: larger. FIFO inside a level in both. */
  readonly order: 'bfs' | 'dfs'
  /** Deepest level that is queued; a deeper request is recorded as skipped `depth`. Raising it queues those in reach. */
  readonly maxDepth?: number
  /** Least time between two request starts to one host. */
  readonly delayMs: number
  /** The same for hosts that are loopback by their name. */
  readonly loopbackDelayMs: number
  /** Requests in flight at one host. */
  readonly maxInFlightPerHost: number
  /** Names the rules of identity (canonical form, fingerprint). A store begun with another is refused: STORE_RULES_CHANGED. */
  readonly identity: string
}

export interface LeaseOptions {
  readonly tasks: readonly string[]
  readonly max: number
  /** Until the lease expires unless renewed. */
  readonly leaseMs: number
  /** Never let done + leased of a task exceed this. */
  readonly pageLimit?: number
  /**
   * Hosts whose pages are expected in the cache: after what politeness lets go out, so many more of each may be given as
   * leases that are `unpaced`. A store may give none of them.
   */
  readonly unpaced?: ReadonlyMap<string, number>
  /**
   * Of silent hosts at most so many: a request to one may hold its place until a deadline ends it. A host is silent until
   * it has answered, and again once a request got no answer. Default: as many as of others.
   */
  readonly maxSilent?: number
}

export interface Lease {
  /** Names the request inside the store. */
  readonly id: string
  readonly request: StoredRequest
  /** What to fetch now: `request.url`, or where redirects have led. */
  readonly url: string
  /** Its host; the one whose place was reserved. */
  readonly hostKey: string
  /** One entry for each hop already made: see `RedirectTarget.hop`. */
  readonly hops: readonly string[]
  /** Tries charged so far plus this one: counted from 1. */
  readonly attempt: number
  /** Fencing token: a settlement that carries an older one is refused. */
  readonly token: string
  /** Store clock. */
  readonly leasedAtMs: number
  readonly expiresAtMs: number
  /** The host counts as down: settle as failed `host-down` without sending anything. */
  readonly hostDown: boolean
  /** It holds neither place nor time of its host, so nothing may be sent with it: answered from the cache, or released. */
  readonly unpaced?: true
  /** What the last settlement that had one said. */
  readonly visit?: string
  /** Its host was silent: it counted towards `LeaseOptions.maxSilent`. */
  readonly silent?: true
}

/** How one lease ends. Everything in it becomes visible together, or not at all. */
export interface Settlement {
  readonly lease: Lease
  readonly outcome: Outcome
  /** New requests found by it, and those the door refused (`skip` set). Parent is the lease's request. */
  readonly discovered: readonly StoredRequest[]
  /**
   * Fingerprints of links that are already known at this depth or a smaller one, left out of `discovered` to save work.
   * Only needed while the task has a maximum depth, so that a lowered depth can be passed on.
   */
  readonly knownLinks?: readonly string[]
  readonly items: readonly ItemDraft[]
  /**
   * What is to be remembered of this look at the page: at most 120 characters, opaque, and kept until the next one. Of a
   * store without the capability: forgotten.
   */
  readonly visit?: string
  /** What the request says of its host; enforced by `lease`, for every worker on every machine. */
  readonly host: HostSignal
  /** Added to the task's counters in the same step. */
  readonly counts?: Readonly<Partial<Record<CounterName, number>>>
  /** Where the page leads, for the link graph; only given to a store that keeps links. */
  readonly links?: PageLinks
}

export const COUNTER_NAMES = [
  'bytes',
  'duplicates',
  'fromCache',
  'requests',
  'invalidUrls',
  'invalidItems',
  // of rounds over what was known: see src/recrawl
  'newPages',
  'changedPages',
  'unchangedPages',
  'gonePages',
] as const
export type CounterName = (typeof COUNTER_NAMES)[number]

export type AddAnswer = 'added' | 'known' | 'updated'
export type SettleAnswer = 'settled' | 'lost'

export interface AttemptRecord extends FailedAttempt {
  /** ISO 8601. */
  readonly at: string
}

/** All that is known of one request. */
export interface RequestRecord {
  readonly id: string
  readonly request: StoredRequest
  readonly state: RequestState
  /** Of a skip or a failure. */
  readonly reason?: string
  /** HTTP status of the last answer. */
  readonly status?: number
  /** Where redirects led, when they did. */
  readonly finalUrl?: string
  readonly parentUrl?: string
  /** URL of the request that stands for this one (a redirect led from one to the other). */
  readonly aliasOf?: string
  readonly attempts: readonly AttemptRecord[]
  /** See `Settlement.visit`. */
  readonly visit?: string
}

export interface RequestFilter {
  readonly task: string
  readonly state?: RequestState
  readonly reason?: string
  readonly status?: number
  readonly hostKey?: string
  readonly depth?: number
  /** Only these; of stores that keep visits. */
  readonly ids?: readonly string[]
}

export interface FrontierStats {
  readonly known: number
  readonly pending: number
  readonly leased: number
  readonly done: number
  readonly failed: number
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  readonly hosts: number
  readonly items: number
  readonly counters: Readonly<Record<CounterName, number>>
}

export interface LevelStats {
  readonly depth: number
  readonly pending: number
  readonly leased: number
  readonly done: number
  readonly failed: number
  readonly skipped: number
}

/** What is kept of one host of a task. */
export interface HostRecord extends HostReport {
  readonly hostKey: string
  /** Requests that may be leased when its time has come; retries that wait for theirs are not among them. */
  readonly ready: number
}

export interface WorkerRecord {
  readonly owner: string
  readonly alive: boolean
  readonly leased: number
  /** ISO 8601. */
  readonly startedAt: string
}

/**
 * Invariants, each one a test of the published suite:
 * 1. A fingerprint is added once per task; a second `add` answers `known`, or `updated` when it is shallower or more
 *    urgent now. A request recorded as skipped for a reason of REVIVABLE_SKIPS and added again without `skip` is queued
 *    (`added`); added again with `skip` it stays as it is (`known`).
 * 2. A request is held by at most one live lease; `lease` reserves the host's next time and in-flight place in the same
 *    atomic step, and gives nothing of a host before its next time or over its places.
 * 3. A lease that is neither settled nor renewed comes back after it expires, with its attempt charged, and frees its
 *    host's place. Leases of an owner that is known to be dead come back at once.
 * 4. `settle` with a lost lease changes nothing and answers `lost`.
 * 5. Within a host and task: higher priority, then smaller depth (larger, when depth-first), then first come.
 * 6. What `add` and `settle` acknowledged is there after a crash and a reopen, if `capabilities.durable`.
 * 7. known = pending + leased + done + failed + skipped, at every instant that a reader can see.
 * 8. With a maximum depth, a request's depth is its shortest distance over the links settled so far: when a shorter way
 *    to a settled page is found, the pages it links to come nearer too, without a fetch.
 * 9. Answers come in the order of the arguments. Batches of any size are accepted.
 * 10. Unpaced leases leave the state of their host as it is, when they are given and when they end.
 * 11. What a settlement says to remember of its page is with the request's next lease and in its record, also after it was
 *     put back into the queue, until another settlement says something else.
 * 12. Of silent hosts `lease` gives at most `maxSilent` requests, however many of them are due, and nobody else waits for
 *     that: the others get the rest of `max`. With `maxSilent` 0, `waitForWork` is not ready by a silent host being due.
 */
export interface Frontier {
  readonly capabilities: FrontierCapabilities
  openTask(settings: TaskSettings): Promise<void>
  add(requests: readonly StoredRequest[]): Promise<readonly AddAnswer[]>
  /** May give fewer than `max`, also none although there is work: then `waitForWork`. */
  lease(options: LeaseOptions): Promise<readonly Lease[]>
  /** False: the lease is lost, or being settled at this moment. */
  renew(leases: readonly Lease[], leaseMs: number): Promise<readonly boolean[]>
  /**
   * Requests of these leases go out only now, more than START_SLACK_MS after they were leased (a connection had to be
   * made): their hosts' next times move along.
   */
  started(leases: readonly Lease[]): Promise<void>
  settle(settlements: readonly Settlement[]): Promise<readonly SettleAnswer[]>
  /**
   * Resolves `ready` when `lease` may have something to give, `finished` when nothing of these tasks is pending or
   * leased anywhere (or the page limit is reached and nothing is leased), `aborted` when the signal aborts.
   */
  waitForWork(
    options: Omit<LeaseOptions, 'max' | 'leaseMs'>,
    signal: AbortSignal,
  ): Promise<'ready' | 'finished' | 'aborted'>
  stats(task: string): Promise<FrontierStats>
  levels(task: string): Promise<readonly LevelStats[]>
  /**
   * The hosts of the task, in whatever order; `after` is the cursor of the page before. May give fewer than `max`, or a
   * few more, and none although there are more: only a page without `next` is the last.
   */
  hosts(
    task: string,
    page: { readonly after?: string; readonly max: number },
  ): Promise<{ readonly hosts: readonly HostRecord[]; readonly next?: string }>
  workers(): Promise<readonly WorkerRecord[]>
  get(task: string, fingerprint: string): Promise<RequestRecord | undefined>
  /** In the order of ids. `after` is the cursor of the page before. */
  list(
    filter: RequestFilter,
    page: { readonly after?: string; readonly max: number },
  ): Promise<{ readonly records: readonly RequestRecord[]; readonly next?: string }>
  /** Puts settled requests back into the queue with no attempt charged; their history stays. Answers how many. */
  requeue(filter: RequestFilter): Promise<number>
  /** Forgets the task: requests, items, failures, counters. Host politeness stays. */
  clear(task: string): Promise<void>
}
