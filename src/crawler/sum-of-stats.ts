/** The figures of several tasks together. */

import type { CounterName, FrontierStats } from '../frontier/contract.ts'

/** At least one. A host that several tasks know counts for each. */
export function sumOfStats(all: readonly FrontierStats[]): FrontierStats {
  return all.reduce((a, b) => ({
    known: a.known + b.known,
    pending: a.pending + b.pending,
    leased: a.leased + b.leased,
    done: a.done + b.done,
    failed: a.failed + b.failed,
    skipped: sumOf(a.skipped, b.skipped),
    hosts: a.hosts + b.hosts,
    items: a.items + b.items,
    counters: sumOf(a.counters, b.counters) as Record<CounterName, number>,
  }))
}

type Counts = Readonly<Partial<Record<string, number>>>

function sumOf(a: Counts, b: Counts): Record<string, number> {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]))
}
