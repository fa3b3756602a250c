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

/** Marks a hop after which the request goes on as a GET without its body (303, and POST at 301 or 302: Fetch, 4.4). */
const TURNED_TO_GET = 'GET '

/** Did one of the redirects so far turn the request into a GET? */
export function hasTurnedToGet(hops: readonly string[]): boolean {
  return hops.some((hop) => hop.startsWith(TURNED_TO_GET))
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
  /** The request goes on as a GET from here. Default: with the method that it had. */
  readonly turnsToGet?: boolean
  readonly door: Door
}

export function followHop(step: RedirectStep): Outcome {
  const { lease, hop, target, status } = step
  const next = hopOf(target, step.targetCookies)
  if (next === hop || lease.hops.some((earlier) => earlier === next || earlier === TURNED_TO_GET + next)) {
    return redirectsFailure(status, `redirect loop: ${lease.url} leads back to ${target}`)
  }
  if (lease.hops.length >= MAX_HOPS) {
    return redirectsFailure(status, `more than ${MAX_HOPS} redirect hops, the last one to ${target}`)
  }
  const admitted = step.door.admitRedirect(target, lease.request)
  if ('skip' in admitted && admitted.skip !== undefined) return { kind: 'skipped', reason: admitted.skip }
  const { url, fingerprint, hostKey } = admitted as StoredRequest
  return {
    kind: 'redirected',
    to: { url, fingerprint, hostKey, hop: step.turnsToGet === true ? TURNED_TO_GET + hop : hop },
  }
}

function redirectsFailure(status: number, error: string): Outcome {
  return { kind: 'failed', attempt: { failure: 'redirects', status, error } }
}
