/** How a request's story ends: the settlements that every ending is made of. */

import { isCrawlError } from '../core/errors.ts'
import type { FailedAttempt, Outcome } from '../core/outcome.ts'
import { decideRetry } from '../failures/retry-policy.ts'
import type { FetchRequest, FetchResponse } from '../fetch/contract.ts'
import type { CounterName, Lease, Settlement } from '../frontier/contract.ts'
import type { HostSignal } from '../politeness/contract.ts'
import type { EngineDeps, EngineTask } from './contract.ts'
import type { HandlerWatch } from './handler-watch.ts'
import type { Hold } from './lease-keeper.ts'
import type { DecisionDesk, PageDecision } from './decisions.ts'

export interface ProcessOptions {
  readonly deps: EngineDeps
  readonly task: EngineTask
  readonly lease: Lease
  /** Whether it is this process's still. */
  readonly hold: Hold
  /** Of the hold: aborts before the lease runs out, and when the crawl is aborted. */
  readonly signal: AbortSignal
  readonly watch: HandlerWatch
  /** Told of what has come of the body. */
  readonly onBody?: (bytes: number) => void
}

export interface Story extends ProcessOptions {
  readonly request: FetchRequest
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
  { deps, task, lease }: ProcessOptions,
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

/**
 * How a page ends whose handler or hook has decided so or has thrown: then it fails with its stack, and the crawl goes
 * on. Throws when the crawl is aborted.
 */
export function outcomeOfThrown(
  options: ProcessOptions,
  thrown: { readonly error: unknown; readonly desk: DecisionDesk; readonly status?: number },
): Outcome {
  const { deps, lease, signal } = options
  signal.throwIfAborted()
  const { error, desk, status } = thrown
  const attempt: FailedAttempt = { failure: 'handler', error: '', ...(status === undefined ? {} : { status }) }
  if (desk.taken !== undefined) return outcomeOfDecision(options, desk.taken, attempt)
  const broken = { ...attempt, error: describe(error) }
  deps.log.debug({ url: lease.url, err: broken.error }, 'handler failed')
  const final = isCrawlError(error) && !error.retryable
  return final ? failed(broken) : retryOrFail(options, broken, undefined)
}

function outcomeOfDecision(options: ProcessOptions, decision: PageDecision, attempt: FailedAttempt): Outcome {
  const { deps, lease } = options
  const { kind, why } = decision
  deps.log.info({ url: lease.url, decision: kind, why }, 'a handler has decided about its page')
  if (kind === 'skip') return { kind: 'skipped', reason: 'handler', ...(why === undefined ? {} : { why }) }
  if (kind === 'fail') return failed({ ...attempt, error: why })
  return retryOrFail(options, { ...attempt, error: why }, decision.afterMs)
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.stack ?? `${error.name}: ${error.message}`
  return `a handler threw ${String(error)}, which is no Error`
}
