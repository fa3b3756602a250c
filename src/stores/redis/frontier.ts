/** The frontier over Redis: the contract's methods, each one script or a chain of short ones. */

import type { StoredRequest } from '../../core/request.ts'
import type {
  AddAnswer,
  Frontier,
  FrontierCapabilities,
  FrontierStats,
  Lease,
  LeaseOptions,
  LevelStats,
  RequestFilter,
  RequestRecord,
} from '../../frontier/contract.ts'
import { COUNTERS_AT_ZERO } from '../../frontier/counters.ts'
import { decodeLease, decodeRecord, encodeAdd, pairsOf } from './encode.ts'
import { listHosts } from './list-hosts.ts'
import { listOwners } from './owners.ts'
import type { Session } from './session.ts'
import { createSettleLane } from './settle-lane.ts'
import { clearTask, filterArgs, openTask, requeue } from './tasks.ts'
import { waitForWork } from './wait.ts'
import type { WaitParts } from './wait.ts'

export interface FrontierParts extends WaitParts {
  readonly capabilities: FrontierCapabilities
}

/** Requests added in one script. */
const ADD_CHUNK = 500
/** Requests looked at in one script. */
const LIST_WINDOW = 1000

export function createRedisFrontier(parts: FrontierParts): Frontier {
  const { session, bell, owners, capabilities } = parts
  const settle = createSettleLane(session)
  const changed = async <T>(answer: Promise<T>): Promise<T> => {
    const value = await answer
    bell.ring()
    return value
  }
  return {
    capabilities,
    openTask: (settings) => changed(openTask(session, settings)),
    add: (requests) => changed(add(session, requests)),
    lease: async (options) => {
      const leases = await lease(session, options)
      if (leases.length > 0 || options.max === 0 || !(await owners.takeBackDead())) return leases
      return lease(session, options)
    },
    renew: (leases, leaseMs) => renew(session, leases, leaseMs),
    started: async (leases) => {
      if (leases.length > 0) await session.write('renew', 'started', leaseArgs(leases))
    },
    settle: (settlements) => changed(settle(settlements)),
    waitForWork: (scope, signal) => waitForWork(parts, scope, signal),
    stats: (task) => statsOf(session, task),
    levels: (task) => levelsOf(session, task),
    hosts: (task, page) => listHosts(session, task, page),
    workers: () => listOwners(session),
    get: async (task, fingerprint) => {
      const [records] = await session.ask('get', [task, fingerprint])
      const [record] = records as unknown[]
      return record === undefined ? undefined : decodeRecord(task, record)
    },
    list: (filter, page) => list(session, { filter, ...page }),
    requeue: (filter) => changed(requeue(session, filter)),
    clear: (task) => changed(clearTask(session, task)),
  }
}

const ANSWERS: Readonly<Record<string, AddAnswer>> = { a: 'added', k: 'known', u: 'updated' }

async function add(session: Session, requests: readonly StoredRequest[]): Promise<AddAnswer[]> {
  const answers: AddAnswer[] = []
  for (let from = 0; from < requests.length; from += ADD_CHUNK) {
    const letters = String(await session.write('add', 'add', encodeAdd(requests.slice(from, from + ADD_CHUNK))))
    for (const letter of letters) answers.push(ANSWERS[letter] ?? 'known')
  }
  return answers
}

async function lease(session: Session, options: LeaseOptions): Promise<Lease[]> {
  const { tasks, max, leaseMs, pageLimit, maxSilent, unpaced = new Map() } = options
  const limits = [String(max), String(leaseMs), String(pageLimit ?? ''), String(maxSilent ?? '')]
  const beside = [...unpaced].flatMap(([hostKey, count]) => [hostKey, String(count)])
  const args = [String(tasks.length), ...tasks, ...limits, String(unpaced.size), ...beside]
  const answer = await session.write('lease', 'lease', args)
  return (answer as unknown[]).map(decodeLease)
}

function leaseArgs(leases: readonly Lease[]): string[] {
  return [String(leases.length), ...leases.flatMap(({ request, token }) => [request.task, request.fingerprint, token])]
}

async function renew(session: Session, leases: readonly Lease[], leaseMs: number): Promise<boolean[]> {
  if (leases.length === 0) return []
  const bits = String(await session.write('renew', 'renew', [String(leaseMs), ...leaseArgs(leases)]))
  return Array.from(bits, (bit) => bit === '1')
}

async function statsOf(session: Session, task: string): Promise<FrontierStats> {
  const [fields, levels, items] = await session.ask('stats', [task])
  const totals = new Map(pairsOf(fields))
  const total = (name: string): number => Number(totals.get(name) ?? 0)
  const skipped = pairsOf(levels).filter(([key, n]) => key.startsWith('skip|') && Number(n) > 0)
  const [pending, leased, done, failed] = [total('pending'), total('leased'), total('done'), total('failed')]
  const counters = Object.keys(COUNTERS_AT_ZERO).map((name) => [name, total(`c:${name}`)])
  return {
    known: pending + leased + done + failed + total('skipped'),
    pending,
    leased,
    done,
    failed,
    skipped: Object.fromEntries(skipped.map(([key, n]) => [key.slice('skip|'.length), Number(n)])),
    hosts: total('hosts'),
    items: Number(items),
    counters: Object.fromEntries(counters) as FrontierStats['counters'],
  }
}

async function levelsOf(session: Session, task: string): Promise<readonly LevelStats[]> {
  const [, fields] = await session.ask('stats', [task])
  const levels = new Map<number, { -readonly [K in keyof LevelStats]: LevelStats[K] }>()
  for (const [key, n] of pairsOf(fields)) {
    const [state = '', place] = key.split('|')
    if (state === 'skip' || Number(n) === 0) continue
    const depth = Number(place)
    const level = levels.get(depth) ?? { depth, pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 }
    if (state in level) level[state as keyof LevelStats] = Number(n)
    levels.set(depth, level)
  }
  return [...levels.values()].toSorted((a, b) => a.depth - b.depth)
}

interface ListOptions {
  readonly filter: RequestFilter
  readonly after?: string
  readonly max: number
}

async function list(
  session: Session,
  { filter, after, max }: ListOptions,
): Promise<{ readonly records: readonly RequestRecord[]; readonly next?: string }> {
  const records: RequestRecord[] = []
  let cursor = after ?? '0'
  for (let last = false; !last && records.length <= max;) {
    // one more than asked for, to know whether there is more
    const need = String(max + 1 - records.length)
    const args = [filter.task, ...filterArgs(filter), cursor, need, String(LIST_WINDOW)]
    const [found, upTo, isLast] = await session.ask('list', args)
    for (const record of found as unknown[]) records.push(decodeRecord(filter.task, record))
    cursor = String(upTo)
    last = isLast === '1'
  }
  const page = records.slice(0, max)
  const next = page.at(-1)?.id
  return records.length <= max || next === undefined ? { records: page } : { records: page, next }
}
