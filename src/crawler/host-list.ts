/** The hosts of a crawl in an order that people ask for: the frontier has none, so they are read, and kept for a moment. */

import type { Clock } from '../core/clock.ts'
import type { Frontier, HostRecord } from '../frontier/contract.ts'
import type { HostPage, HostQuery, HostSort } from './contract.ts'

/** Read in windows of so many, */
const WINDOW = 2000
/** up to so many in all; the rest is left out, and said to be. */
const MAX_HOSTS = 200_000
/** For so long a list that was read is good enough to turn its pages. */
const KEEP_MS = 5000

interface HostList {
  readonly hosts: readonly HostRecord[]
  readonly isWhole: boolean
  readonly readAtMs: number
}

const ORDERS: Readonly<Record<HostSort, (a: HostRecord, b: HostRecord) => number>> = {
  waiting: (a, b) => b.ready - a.ready,
  next: (a, b) => b.nextInMs - a.nextInMs,
  trouble: (a, b) => b.downForMs - a.downForMs || b.silentFailures - a.silentFailures || b.backoffStep - a.backoffStep,
  name: () => 0,
}
const byName = (a: HostRecord, b: HostRecord): number => (a.hostKey < b.hostKey ? -1 : 1)

export function createHostList(
  frontier: Frontier,
  task: string,
  clock: Clock,
): (query: HostQuery) => Promise<HostPage> {
  let reading: Promise<HostList> | undefined
  const read = async (): Promise<HostList> => {
    const hosts: HostRecord[] = []
    let after: string | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop -- page by page, so that nobody waits long for the store
      const page = await frontier.hosts(task, { max: WINDOW, ...(after === undefined ? {} : { after }) })
      hosts.push(...page.hosts)
      after = page.next
    } while (after !== undefined && hosts.length < MAX_HOSTS)
    return { hosts, isWhole: after === undefined, readAtMs: clock.monotonicMs() }
  }
  return async ({ sort, contains, from, max }) => {
    const known = await reading?.catch(() => undefined)
    if (known === undefined || clock.monotonicMs() - known.readAtMs > KEEP_MS) reading = read()
    const { hosts, isWhole } = await (reading ?? read())
    const fitting = hosts.filter(({ hostKey }) => contains === undefined || hostKey.includes(contains))
    const sorted = fitting.toSorted((a, b) => ORDERS[sort](a, b) || byName(a, b))
    return { hosts: sorted.slice(from, from + max), total: sorted.length, isWhole }
  }
}
