/** Generated requests and settlements for the benches of the frontier, and what a piece of work cost. */

import { createHash } from 'node:crypto'
import type { StoredRequest } from '../../src/core/request.ts'
import type { Lease, Settlement, TaskSettings } from '../../src/frontier/contract.ts'

export const BENCH_TASK = 'bench'

export const BENCH_SETTINGS: TaskSettings = {
  name: BENCH_TASK,
  order: 'bfs',
  delayMs: 0,
  loopbackDelayMs: 0,
  maxInFlightPerHost: 64,
  identity: 'bench',
}

/** URLs that follow each other belong to one host, as the links of a page do. */
const LINKS_TOGETHER = 20

/** The n-th of an endless list, the same at every call. */
export function requestOf(n: number, hosts: number): StoredRequest {
  const hostKey = `h${Math.floor(n / LINKS_TOGETHER) % hosts}.test`
  const url = `http://${hostKey}/some/section/page-${n}.html`
  const fingerprint = createHash('sha256').update(url).digest('base64url').slice(0, 16)
  return { task: BENCH_TASK, url, fingerprint, hostKey, depth: Math.min(9, Math.floor(Math.log10(n + 1))), priority: 0 }
}

/** A good page with one item. */
export function doneWith(lease: Lease, discovered: readonly StoredRequest[]): Settlement {
  const { url } = lease
  return {
    lease,
    outcome: { kind: 'done', status: 200, fromCache: false },
    discovered,
    items: [{ data: { url, status: 200, depth: 3, title: 'A page', links: 40, bytes: 10_000 }, isPage: true }],
    host: { kind: 'answered' },
    counts: { bytes: 10_000, requests: 1 },
  }
}

export interface Cost {
  readonly wallUs: number
  /** User and system time of the process, all its threads. */
  readonly cpuUs: number
}

export async function costOf(work: () => Promise<void>): Promise<Cost> {
  const sinceMs = performance.now()
  const since = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(since)
  return { wallUs: (performance.now() - sinceMs) * 1000, cpuUs: user + system }
}
