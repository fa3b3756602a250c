/** How a request's story ends: the settlements that every ending is made of. */

import type { FailedAttempt, Outcome } from '../core/outcome.ts'
import { decideRetry } from '../failures/retry-policy.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import type { CounterName, Lease, Settlement } from '../frontier/contract.ts'
import type { HostSignal } from '../politeness/contract.ts'
import type { EngineDeps, EngineTask } from './contract.ts'
import type { Hold } from './lease-keeper.ts'

export interface ProcessOptions {
  readonly deps: EngineDeps
  readonly task: EngineTask
  readonly lease: Lease
  /** Whether it is this process's still. */
  readonly hold: Hold
  /** Of the hold: aborts before the lease runs out, and when the crawl is aborted. */
  readonly signal: AbortSignal
}

export interface Story extends ProcessOptions {
  /** From robots.txt, to be kept with the host. */
  readonly crawlDelayMs: number | undefined
  /** Version of the cookies that the request carried. */
  readonly sentCookies: string
  /** The answer was in the cache: its host was asked for nothing. */
  readonly isHit: boolean
}

const UNUSED: HostSignal = { kind: 'unused' }

export const failed = (attempt: FailedAttempt): Outcome => ({ kind: 'failed', attempt })

/** A settlement of a request that asked its host for nothing. */
export function end(lease: Lease, outcome: Outcome): Settlement {
  return { lease, outcome, discovered: [], items: [], host: UNUSED }
}

/** A settlement of a request that its host answered. */
export function answered(story: Story, response: FetchResponse, outcome: Outcome): Settlement {
  const { lease } = story
  if (story.isHit) return { lease, outcome, discovered: [], items: [], host: UNUSED, counts: { fromCache: 1 } }
  const counts: Partial<Record<CounterName, number>> = { requests: 1, bytes: response.wireBytes }
  if (response.fromCache === true) counts.fromCache = 1
  return { lease, outcome, discovered: [], items: [], host: hostSignal(story, 'answered'), counts }
}

export function hostSignal({ crawlDelayMs }: Story, kind: 'answered' | 'troubled'): HostSignal {
  return kind === 'answered' && crawlDelayMs !== undefined ? { kind, crawlDelayMs } : { kind }
}

export function retryOrFail(
  { deps, task, lease }: Story,
  attempt: FailedAttempt,
  retryAfterMs: number | undefined,
): Outcome {
  const decision = decideRetry({
    failure: attempt.failure,
    status: attempt.status,
    attempt: lease.attempt,
    maxRetries: task.maxRetries,
    retryAfterMs,
    random: deps.random,
  })
  return decision.retry ? { kind: 'retry', attempt, retryInMs: decision.inMs, charged: true } : failed(attempt)
}
