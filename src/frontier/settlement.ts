/** The pure parts of a settlement: what is discovered, and how far from a seed it is by now. */

import type { StoredRequest } from '../core/request.ts'
import type { Settlement, TaskSettings } from './contract.ts'
import { skipOf } from './decide-add.ts'

/**
 * The discovered requests at the depth they have now: the worker reckoned from the depth that the page had when it was
 * leased, and the page may have come nearer since.
 */
export function discoveredNow(settlement: Settlement, depthNow: number): readonly StoredRequest[] {
  const nearer = settlement.lease.request.depth - depthNow
  if (nearer <= 0) return settlement.discovered
  return settlement.discovered.map((request) => ({ ...request, depth: Math.max(0, request.depth - nearer) }))
}

/** Fingerprints of the pages that the settled page leads to, or none where depth has no limit and nobody will ask. */
export function childrenOf(settlement: Settlement, { maxDepth }: TaskSettings): ReadonlySet<string> | undefined {
  if (maxDepth === undefined) return undefined
  const children = new Set(settlement.knownLinks ?? [])
  for (const request of settlement.discovered) {
    const skip = skipOf(request, maxDepth)
    if (skip === undefined || skip === 'depth') children.add(request.fingerprint)
  }
  return children.size === 0 ? undefined : children
}
