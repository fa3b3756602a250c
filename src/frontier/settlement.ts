/** The pure parts of a settlement: what is discovered, and how far from a seed it is by now. */

import type { StoredRequest } from '../core/request.ts'
import type { Settlement, TaskSettings } from './contract.ts'
import { skipOf } from './decide-add.ts'

/**
 * The discovered requests at the depth they have now: the worker reckoned from the depth that the page had when it was
 * leased, and the page may have come nearer since.
 */
export function discoveredNow(settlement: Settlement, depthNow: number): readonly StoredRequest[] {
  if (!cameNearer(settlement, depthNow)) return settlement.discovered
  const nearer = settlement.lease.request.depth - depthNow
  return settlement.discovered.map((request) => ({ ...request, depth: Math.max(0, request.depth - nearer) }))
}

/**
 * The page has come nearer since it was leased: the worker reckoned from a greater depth. The links that it took for
 * known are known at that depth only: they come nearer, too.
 */
export function cameNearer(settlement: Settlement, depthNow: number): boolean {
  return settlement.lease.request.depth > depthNow
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
