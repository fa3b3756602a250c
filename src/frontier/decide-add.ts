/** What becomes of a request that is added: the one place where known-set, skips and depth limit meet. */

import { REVIVABLE_SKIPS } from '../core/outcome.ts'
import type { SkipReason } from '../core/outcome.ts'
import type { RequestState, StoredRequest } from '../core/request.ts'

/** What the store knows under the fingerprint; of an alias, the request that stands for it. */
export interface KnownRequest {
  readonly state: RequestState
  /** Of a skip. */
  readonly reason: string | undefined
  readonly depth: number
  readonly priority: number
}

export type AddDecision =
  /** Unknown so far: recorded, and queued unless `skip` is set. */
  | { readonly kind: 'insert'; readonly skip: SkipReason | undefined }
  /** Was refused, is accepted now: queued as this request. */
  | { readonly kind: 'revive' }
  /** Was refused, would be accepted were it not too deep: from now on it is skipped for its depth. */
  | { readonly kind: 'defer'; readonly updated: boolean }
  /** Known, nearer or more urgent now. */
  | { readonly kind: 'improve'; readonly depth: number; readonly priority: number }
  | { readonly kind: 'known' }

export function decideAdd(
  known: KnownRequest | undefined,
  request: StoredRequest,
  maxDepth: number | undefined,
): AddDecision {
  const skip = skipOf(request, maxDepth)
  if (known === undefined) return { kind: 'insert', skip }
  if (skip !== undefined && skip !== 'depth') return { kind: 'known' }
  if (skip === 'depth' && maxDepth === undefined) return { kind: 'known' }
  if (isRevivable(known)) return decideRevival(known, request, skip)
  const depth = Math.min(known.depth, request.depth)
  const priority = Math.max(known.priority, request.priority)
  if (depth === known.depth && priority === known.priority) return { kind: 'known' }
  return { kind: 'improve', depth, priority }
}

/**
 * Why a request is not queued. Where the task has a maximum depth the frontier alone judges depth, because only it
 * knows the depth that the parent has by now: a skip `depth` from the door is judged anew.
 */
export function skipOf(request: StoredRequest, maxDepth: number | undefined): SkipReason | undefined {
  if (request.skip !== undefined && (request.skip !== 'depth' || maxDepth === undefined)) return request.skip
  return maxDepth !== undefined && request.depth > maxDepth ? 'depth' : undefined
}

/**
 * What another depth limit means for what a task has. With a first limit the frontier begins to judge depth, so that
 * what the door refused for its depth is judged anew; without a change there is nothing to do.
 */
export function decideDepthChange(before: number | undefined, now: number | undefined): DepthChange {
  if (before === now) return { reviveUpTo: undefined, refuseBeyond: undefined }
  const [old = Infinity, limit = Infinity] = [before, now]
  return {
    reviveUpTo: limit > old || before === undefined ? limit : undefined,
    refuseBeyond: limit < old ? limit : undefined,
  }
}

export interface DepthChange {
  /** Skipped for their depth, at most so deep: to be queued. Undefined: none. */
  readonly reviveUpTo: number | undefined
  /** Pending, deeper than this: to be skipped. Undefined: none. */
  readonly refuseBeyond: number | undefined
}

/** Refused for the way it was met, not for what it is: met again in reach, it is crawled. */
export function isRevivable(known: Pick<KnownRequest, 'state' | 'reason'>): boolean {
  return known.state === 'skipped' && REVIVABLE_SKIPS.has(known.reason as SkipReason)
}

function decideRevival(known: KnownRequest, request: StoredRequest, skip: SkipReason | undefined): AddDecision {
  if (skip === undefined) return { kind: 'revive' }
  if (known.reason === 'depth' && known.depth <= request.depth) return { kind: 'known' }
  return { kind: 'defer', updated: known.reason === 'depth' }
}
