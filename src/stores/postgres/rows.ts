/** Rows of requests as they are read. */

import type { JsonObject } from '../../core/json.ts'
import type { RequestState, StoredRequest } from '../../core/request.ts'
import { DONE, FAILED, SKIPPED } from './schema.ts'

export interface Row {
  readonly id: number
  readonly queue_id: number
  readonly host_id: number
  readonly task_id: number
  readonly fp: string
  readonly state: number
  readonly depth: number
  readonly priority: number
  readonly url: string
  readonly reason: string | null
  readonly status: number | null
  readonly parent: number | null
  readonly alias_of: number | null
  readonly attempt: number
  readonly extra: string | null
  readonly hop: string | null
  /** The queue of the host that redirects have led to. */
  readonly hop_queue: number | null
  readonly hop_host: number | null
  readonly item_count: number
}

/** Of `requests r`. */
export const ROW_COLUMNS = `r.id, r.queue_id, q.host_id, q.task_id, r.fp, r.state, r.depth, r.priority, r.url, r.reason, r.status,
  r.parent, r.alias_of, r.attempt, r.extra, r.hop, r.hop_queue, hq.host_id AS hop_host, r.item_count`
export const ROW_JOINS = 'JOIN @queues q ON q.id = r.queue_id LEFT JOIN @queues hq ON hq.id = r.hop_queue'

export interface Hop {
  readonly url: string
  readonly hops: readonly string[]
}

export function hopOf({ hop }: Pick<Row, 'hop'>): Hop | undefined {
  return hop === null ? undefined : (JSON.parse(hop) as Hop)
}

type Extra = Pick<StoredRequest, 'label' | 'userData' | 'method' | 'headers' | 'payload' | 'cache'>

/** What few requests have, as JSON; most have none of it. */
export function extraOf({ label, userData, method, headers, payload, cache }: StoredRequest): string | null {
  const extra = { label, userData, method, headers, payload, cache } satisfies JsonObject
  return Object.values(extra).every((value) => value === undefined) ? null : JSON.stringify(extra)
}

export function requestOf(
  row: Pick<Row, 'url' | 'fp' | 'depth' | 'priority' | 'extra'>,
  from: { readonly task: string; readonly hostKey: string },
): StoredRequest {
  return {
    task: from.task,
    url: row.url,
    fingerprint: row.fp,
    hostKey: from.hostKey,
    depth: row.depth,
    priority: row.priority,
    ...(row.extra === null ? {} : (JSON.parse(row.extra) as Extra)),
  }
}

export function stateName(state: number, isLeased: boolean): RequestState {
  if (state === DONE) return 'done'
  if (state === FAILED) return 'failed'
  if (state === SKIPPED) return 'skipped'
  return isLeased ? 'leased' : 'pending'
}
