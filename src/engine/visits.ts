/** What is remembered of a page with its settlement, and what a round over known pages counts it as. */

import { hash } from 'node:crypto'
import type { FetchResponse } from '../fetch/contract.ts'
import type { CounterName, Settlement } from '../frontier/contract.ts'
import type { Finding } from '../recrawl/contract.ts'
import { formatVisit, noteLook, parseVisit } from '../recrawl/visit.ts'
import type { Story } from './settlement.ts'

/** Of the digest: 96 bits, enough to tell the versions of one page apart. */
const DIGEST_CHARS = 16
const COUNTER_OF: Readonly<Record<Finding, CounterName>> = {
  new: 'newPages',
  changed: 'changedPages',
  unchanged: 'unchangedPages',
  gone: 'gonePages',
}
/** Of answers that say that there is no page any more. */
const GONE: ReadonlySet<number> = new Set([404, 410])

/**
 * To a page that has come, or to an answer that says that it is gone; any other bad answer tells nothing of it. Writes into
 * the settlement: a spread would give each page's an own hidden class on Node 20, and all that reads it the slow path.
 */
export function withVisit(story: Story, response: FetchResponse, settlement: Settlement): Settlement {
  const { deps, task, lease, isHit } = story
  const { visits } = task
  const isGone = GONE.has(response.status)
  if (visits === undefined || settlement.outcome.kind !== (isGone ? 'failed' : 'done')) return settlement
  const nowMs = deps.clock.nowMs()
  const answer = noteLook(parseVisit(lease.visit), {
    digest: isGone ? undefined : hash('sha256', response.body, 'base64url').slice(0, DIGEST_CHARS),
    // what is in the cache was the page when it was fetched
    atMs: isHit ? (response.fetchedAtMs ?? nowMs) : nowMs,
    bounds: visits.bounds,
  })
  if (answer === undefined) return settlement
  const visit = formatVisit(answer.visit)
  if (!visits.isRound || answer.finding === undefined) return Object.assign(settlement, { visit })
  const counts = { ...settlement.counts, [COUNTER_OF[answer.finding]]: 1 }
  return Object.assign(settlement, { visit, counts })
}
