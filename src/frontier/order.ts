/** The order in which the requests of one host and task come out. */

import type { HostState } from '../politeness/contract.ts'
import type { TaskSettings } from './contract.ts'

/** Where a request stands in its queue: higher priority, then smaller level, then smaller id. */
export interface QueuePlace {
  readonly priority: number
  /** Depth, or its negative when deeper comes first. */
  readonly level: number
  /** Order of arrival. */
  readonly id: number
}

export function placeOf(
  request: { readonly priority: number; readonly depth: number; readonly id: number },
  order: TaskSettings['order'],
): QueuePlace {
  return { priority: request.priority, level: order === 'dfs' ? 0 - request.depth : request.depth, id: request.id }
}

export function comesBefore(a: QueuePlace, b: QueuePlace): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  if (a.level !== b.level) return a.level < b.level
  return a.id < b.id
}

/** When it became a host's turn: hosts are served in this order. One that is down is got rid of first. */
export function turnOf({ downUntilMs, nextAtMs }: HostState, nowMs: number): number {
  return downUntilMs > nowMs ? 0 : nextAtMs
}

/**
 * Queues stand in one index by when they are due; those of silent hosts by that instant as it was so long ago, before all
 * instants that a clock shows: so each kind is one range.
 */
const SILENT_AGO_MS = 2 ** 43

export interface DueRange {
  readonly fromMs: number
  readonly untilMs: number
}

/** Where the queues stand that are due by now; without it, all. */
export function dueRange(silent: boolean, nowMs = SILENT_AGO_MS / 2 - 1): DueRange {
  return silent
    ? { fromMs: -SILENT_AGO_MS, untilMs: nowMs - SILENT_AGO_MS }
    : { fromMs: -SILENT_AGO_MS / 2, untilMs: nowMs }
}

export function dueAt(dueMs: number, silent: boolean): number {
  return silent ? dueMs - SILENT_AGO_MS : dueMs
}

export function isAmongSilent(standsAt: number): boolean {
  return standsAt < -SILENT_AGO_MS / 2
}

/** The instant again, of where a queue of this kind stands. */
export function dueOf(standsAt: number, silent: boolean): number {
  return silent ? standsAt + SILENT_AGO_MS : standsAt
}
