/** What the dashboard's server and its page say to each other, as JSON: the page knows nothing else of the crawler. */

/** One instant of the curves. */
export interface Point {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  /** Pages settled a second, by all workers. */
  readonly pagesPerSecond: number
  readonly failedPerSecond: number
  /** Milliseconds that half of the last requests, and 95 % of them, stayed under. Null: nothing was sent. */
  readonly p50: number | null
  readonly p95: number | null
}

export interface LevelRow {
  readonly depth: number
  readonly pending: number
  readonly leased: number
  readonly done: number
  readonly failed: number
  readonly skipped: number
}

export interface WorkerRow {
  readonly owner: string
  readonly alive: boolean
  readonly machine: string | null
  readonly pid: number | null
  readonly leased: number
  readonly pages: number
  readonly pagesPerSecond: number
}

/** `kept`: the crawl is looked at from outside; whether it runs, its workers tell. */
export type Standing = 'running' | 'paused' | 'stopping' | 'ended' | 'kept'

export interface Tick {
  readonly standing: Standing
  readonly task: string
  readonly pending: number
  readonly leased: number
  readonly done: number
  readonly failed: number
  readonly skipped: Readonly<Record<string, number>>
  readonly hosts: number
  readonly items: number
  readonly bytes: number
  readonly requests: number
  readonly fromCache: number
  readonly duplicates: number
  readonly levels: readonly LevelRow[]
  /** The busiest first; at most 50. */
  readonly workers: readonly WorkerRow[]
  readonly workersAlive: number
  readonly settings: Settings | null
  readonly point: Point
}

export interface Settings {
  readonly maxConcurrency: number
  readonly processes: number
  readonly delayMs: number
}

/** What the page needs to begin. */
export interface Hello {
  readonly version: string
  /** The folder or the store, without a password. */
  readonly place: string
  readonly task: string
  readonly tasks: readonly string[]
  /** Must come back with whatever changes something. */
  readonly key: string
  /** Of what can be changed from here; a sentence says why not. */
  readonly cannot: { readonly control: string | null; readonly log: string | null }
  readonly history: readonly Point[]
  readonly log: readonly LogLine[]
}

export interface LogLine {
  readonly atMs: number
  readonly kind: 'page' | 'redirected' | 'skipped' | 'retry' | 'failed' | 'lost' | 'warning' | 'log'
  readonly text: string
  readonly url: string | null
}

export interface HostRow {
  readonly hostKey: string
  readonly ready: number
  readonly inFlight: number
  readonly nextInMs: number
  readonly delayMs: number
  /** Asked for by robots.txt. */
  readonly crawlDelayMs: number
  readonly backoffStep: number
  readonly silentFailures: number
  readonly downForMs: number
}

export interface HostList {
  readonly hosts: readonly HostRow[]
  readonly total: number
  readonly isWhole: boolean
}

export interface FailureRow {
  readonly url: string
  readonly reason: string
  readonly status: number | null
  readonly attempts: readonly { readonly at: string; readonly error: string; readonly status?: number | null }[]
}

export interface FailureList {
  readonly failures: readonly (FailureRow & { readonly id: string })[]
  readonly next?: string
}

export interface Why {
  readonly url: string
  readonly canonical: string
  readonly state: string
  readonly reason: string | null
  readonly depth: number | null
  readonly parent: string | null
  readonly attempts: FailureRow['attempts']
  readonly rule?: string
  readonly aliasOf?: string
  readonly finalUrl?: string
  readonly status?: number
}

export interface ItemList {
  /** Lines of JSON, the newest first; one that is too long is cut, and is no JSON then. */
  readonly items: readonly string[]
}

/** What a change is answered with. */
export interface Done {
  readonly said: string
}

export interface Problem {
  readonly error: string
}
