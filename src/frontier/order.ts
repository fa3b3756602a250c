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
