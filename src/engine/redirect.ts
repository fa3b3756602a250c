/** A redirect as a hop of the same request: through the same door, with loops told from cookie walls. */

import type { StoredRequest } from '../core/request.ts'
import type { Outcome } from '../core/outcome.ts'
import type { Lease } from '../frontier/contract.ts'
import type { Door } from './contract.ts'

/** Browsers stop after 20 as well (Fetch standard, 4.4). */
export const MAX_HOPS = 20

/**
 * One hop, remembered with the cookies that were sent: asking the same URL again with other cookies is progress, with
 * the same cookies it is a loop.
 */
export function hopOf(url: string, cookiesVersion: string): string {
  return `${cookiesVersion} ${url}`
}

export interface RedirectStep {
  readonly lease: Lease
  /** The hop just made. */
  readonly hop: string
  /** Where it leads, absolute. */
  readonly target: string
  /** Cookies that a request to the target would carry now. */
  readonly targetCookies: string
  readonly status: number
  readonly door: Door
}

export function followHop(step: RedirectStep): Outcome {
  const { lease, hop, target, status } = step
  const next = hopOf(target, step.targetCookies)
  if (next === hop || lease.hops.includes(next)) {
    return redirectsFailure(status, `redirect loop: ${lease.url} leads back to ${target}`)
  }
  if (lease.hops.length >= MAX_HOPS) {
    return redirectsFailure(status, `more than ${MAX_HOPS} redirect hops, the last one to ${target}`)
  }
  const admitted = step.door.admitRedirect(target, lease.request)
  if ('skip' in admitted && admitted.skip !== undefined) return { kind: 'skipped', reason: admitted.skip }
  const { url, fingerprint, hostKey } = admitted as StoredRequest
  return { kind: 'redirected', to: { url, fingerprint, hostKey, hop } }
}

function redirectsFailure(status: number, error: string): Outcome {
  return { kind: 'failed', attempt: { failure: 'redirects', status, error } }
}
