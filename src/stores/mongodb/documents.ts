/** The documents of the MongoDB store: which collections there are, and what a document of each holds. */

import type { RequestState } from '../../core/request.ts'
import type { CounterName } from '../../frontier/contract.ts'
import type { HostState } from '../../politeness/contract.ts'

/** Grows when an older version could not read what this one writes. */
export const FORMAT = 1

/**
 * Every document has the shape `{ _id, d: { v, … } }`: `v` is the number of the log record that wrote it last. A write is
 * `$max` on `d`: documents are compared field by field, so the one with the larger `v` stays whatever comes late.
 */
export interface Kinds {
  readonly meta: MetaDocument
  readonly tasks: TaskDocument
  readonly levels: LevelDocument
  readonly hosts: HostDocument
  readonly queues: QueueDocument
  readonly requests: RequestDocument
  readonly links: LinksDocument
  readonly items: ItemDocument
  readonly state: StateDocument
  readonly lowering: LoweringDocument
}
export type Kind = keyof Kinds

/** Their order is part of the format: log records name a kind by its place. */
export const KINDS = [
  'meta',
  'tasks',
  'levels',
  'hosts',
  'queues',
  'requests',
  'links',
  'items',
  'state',
  'lowering',
] as const satisfies readonly Kind[]

/** What one needs to know of all tasks together; one document. */
export interface MetaDocument {
  lastRequest: number
  lastQueue: number
  lastTask: number
  lastToken: number
  /** Number of a task by its name. */
  tasks: { readonly name: string; readonly id: number }[]
  owners: OwnerEntry[]
  /** Numbers of tasks that were cleared and are not swept yet. */
  cleared: number[]
  /** Ids of documents of kind `lowering`, oldest first. */
  lowering: string[]
  lastLowering: number
}
export const META = 'all'

export interface TaskDocument {
  readonly name: string
  /** TaskSettings as JSON. */
  settings: string
  readonly counts: Record<RequestState, number>
  readonly skipped: Record<string, number>
  readonly counters: Record<CounterName, number>
  hosts: number
  items: number
  lastSeq: number
  revision: number
  /** Some of its requests may still stand in the order of the settings before. */
  reorder?: boolean | undefined
}

/** Counts of LEVELS_A_DOCUMENT levels of one task. */
export interface LevelDocument {
  readonly t: number
  /** By depth: counts in the order of STATES. */
  readonly levels: Record<string, number[]>
}
export const LEVELS_A_DOCUMENT = 64
export const STATES = ['pending', 'leased', 'done', 'failed', 'skipped'] as const satisfies readonly RequestState[]

export interface HostDocument {
  state: HostState
  /** Numbers of the tasks that have a queue here. */
  tasks: number[]
}

/**
 * Where a document stands in an ordered list: `q` names the list, the rest is its place. Requests stand in the queue of
 * their host and task, in DELAYED or in LEASED; queues stand in the list of their task by the instant they are due.
 */
export interface Placed {
  readonly q?: string | undefined
  readonly a?: number | undefined
  readonly b?: number | undefined
  readonly c?: number | undefined
}
export const DELAYED = '~delayed'
export const LEASED = '~leased'

export interface QueueDocument extends Placed {
  readonly t: number
  readonly host: string
  readonly id: number
  ready: number
  opened: boolean
  q?: string | undefined
  a?: number | undefined
  b?: number | undefined
  c?: number | undefined
}

export interface HeldLease {
  readonly owner: string
  readonly token: number
  readonly atMs: number
  /** It holds neither place nor time of its host. */
  readonly unpaced?: true
}

/** A request; names are short because there are as many of them as there are URLs. */
export interface RequestDocument extends Placed {
  /** Number of its task. */
  readonly t: number
  readonly id: number
  readonly fp: string
  /** Host key of its own URL. */
  readonly h: string
  readonly s: RequestState
  readonly depth: number
  readonly priority: number
  readonly url: string
  /** Label, user data, method, headers, payload, as JSON. */
  readonly extra?: string | undefined
  readonly reason?: string | undefined
  readonly status?: number | undefined
  /** Fingerprint of its parent. */
  readonly parent?: string | undefined
  /** Fingerprint of the request that stands for this one. */
  readonly alias?: string | undefined
  /** Tries charged so far. */
  readonly tries: number
  readonly hop?: { readonly url: string; readonly h: string; readonly hops: readonly string[] } | undefined
  readonly lease?: HeldLease | undefined
  /** Its items: the first number, how many, and which of them are the page's own record. */
  readonly items?: { readonly seq: number; readonly n: number; readonly page: readonly number[] } | undefined
  /** Failed tries, as JSON. */
  readonly attempts?: string | undefined
}

/** What a settled page leads to, for tasks with a maximum depth. */
export interface LinksDocument {
  readonly t: number
  readonly fps: readonly string[]
}

export interface ItemDocument {
  readonly t: number
  /** Only the pieces of an item have none. */
  readonly seq?: number
  readonly json: string
  /** How many documents hold its text, where one cannot. */
  readonly pieces?: number
}

/** A process that works on the store. */
export interface OwnerEntry {
  readonly name: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly machine: string
  readonly pid: number
  /** When the process began, in units of its system. */
  readonly began?: string
}

export interface StateDocument {
  /** As JSON: BSON carries no half of a surrogate pair. */
  readonly value: string
}

/** Depths still to be passed on. */
export interface LoweringDocument {
  readonly list: readonly Lowering[]
}
export interface Lowering {
  readonly key: string
  readonly depth: number
}

export function requestKey(taskId: number, fingerprint: string): string {
  return `${taskId}:${fingerprint}`
}

export function queueKey(taskId: number, hostKey: string): string {
  return `${taskId}:${hostKey}`
}

/** The list of a task's queues by the instant they are due: those of silent hosts, or the others. */
export function dueList(taskId: number, silent: boolean): string {
  return `${silent ? 'silent' : 'due'}:${taskId}`
}

export function levelKey(taskId: number, depth: number): string {
  return `${taskId}:${Math.floor(depth / LEVELS_A_DOCUMENT)}`
}

export function itemKey(taskId: number, seq: number): string {
  return `${taskId}:${seq}`
}

/** Any text as an id: JSON without its quotes has no half of a surrogate pair. */
export function textKey(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function textOfKey(key: string): string {
  return JSON.parse(`"${key}"`) as string
}

/** Negative: a comes first. */
export function comparePlaces(a: Placed, b: Placed): number {
  return (a.a ?? 0) - (b.a ?? 0) || (a.b ?? 0) - (b.b ?? 0) || (a.c ?? 0) - (b.c ?? 0)
}
