/** The frontier of the embedded store: the contract's methods, each one step inside a transaction. */

import type { AddAnswer, Frontier, RequestFilter, RequestRecord } from '../../frontier/contract.ts'
import type { StoredRequest } from '../../core/request.ts'
import { waitForWork } from '../../frontier/wait-for-work.ts'
import type { Bell } from '../../frontier/wait-for-work.ts'
import { addRequests } from './add.ts'
import { leaseNext, look, moveNextTimes, renewLeases } from './lease.ts'
import { listOwners } from './owners.ts'
import type { OwnerWatch } from './owner-watch.ts'
import { hostsOf } from './hosts.ts'
import { findRecord, levelsOf, matchingRows, recordOf, statsOf } from './records.ts'
import { taskOf } from './session.ts'
import type { Session } from './session.ts'
import { settleOne } from './settle.ts'
import { clearTask, openTask, requeue } from './tasks.ts'
import { nextTurn } from './write-queue.ts'
import type { WriteQueue } from './write-queue.ts'

export interface FrontierParts {
  readonly session: Session
  readonly queue: WriteQueue
  readonly bell: Bell
  readonly owners: OwnerWatch
  readonly dir: string
}

/** Requests added in one transaction. */
const ADD_CHUNK = 500

export function createSqliteFrontier({ session, queue, bell, owners, dir }: FrontierParts): Frontier {
  return {
    capabilities: { durable: true, shared: true, transactional: true, unpaced: true, visits: true },
    openTask: (settings) => openTask({ session, queue }, settings),
    add: (requests) => addInChunks(session, queue, requests),
    lease: (options) =>
      queue.write(() => {
        const leases = leaseNext(session, options)
        if (leases.length > 0 || !owners.takeBackDead()) return leases
        return leaseNext(session, options)
      }),
    renew: (leases, leaseMs) => queue.write(() => renewLeases(session, leases, leaseMs)),
    started: (leases) =>
      queue.write(() => {
        moveNextTimes(session, leases)
      }),
    settle: (settlements) =>
      queue.write(() => {
        const answers = settlements.map((settlement) => settleOne(session, settlement))
        session.failpoint?.('settle:before-commit')
        return answers
      }),
    waitForWork: (options, signal) => {
      const lookNow = (): ReturnType<typeof look> => {
        const outlook = queue.read(() => look(session, options))
        return outlook.kind === 'wait' && queue.read(() => owners.someoneDied()) ? { kind: 'ready' } : outlook
      }
      return waitForWork({ look: lookNow, bell }, signal)
    },
    stats: async (name) => queue.read(() => statsOf(session, taskOf(session, name))),
    levels: async (name) => queue.read(() => levelsOf(session, taskOf(session, name))),
    hosts: async (name, page) => queue.read(() => hostsOf(session, taskOf(session, name), page)),
    workers: async () => queue.read(() => listOwners(session, dir)),
    get: async (name, fingerprint) => queue.read(() => findRecord(session, name, fingerprint)),
    list: (filter, page) => list(session, queue, { filter, ...page }),
    requeue: (filter) => requeue({ session, queue }, filter),
    clear: (name) => clearTask({ session, queue }, name),
  }
}

async function addInChunks(
  session: Session,
  queue: WriteQueue,
  requests: readonly StoredRequest[],
): Promise<readonly AddAnswer[]> {
  if (requests.length <= ADD_CHUNK) return queue.write(() => addRequests(session, requests))
  const answers: AddAnswer[] = []
  for (let from = 0; from < requests.length; from += ADD_CHUNK) {
    const chunk = requests.slice(from, from + ADD_CHUNK)
    for (const answer of await queue.write(() => addRequests(session, chunk))) answers.push(answer)
  }
  return answers
}

interface ListOptions {
  readonly filter: RequestFilter
  readonly after?: string
  readonly max: number
}

async function list(
  session: Session,
  queue: WriteQueue,
  { filter, after, max }: ListOptions,
): Promise<{ readonly records: readonly RequestRecord[]; readonly next?: string }> {
  const records: RequestRecord[] = []
  let cursor = Number(after ?? 0)
  for (;;) {
    const from = cursor
    const step = queue.read(() => {
      // one more than asked for, to know whether there is more
      const window = matchingRows(session, filter, { after: from, max: max + 1 - records.length })
      return { window, found: window.rows.map((row) => recordOf(session, row)) }
    })
    records.push(...step.found)
    cursor = step.window.upTo
    if (step.window.last || records.length > max) break
    await nextTurn()
  }
  if (records.length <= max) return { records }
  const page = records.slice(0, max)
  const last = page.at(-1)
  return last === undefined ? { records: page } : { records: page, next: last.id }
}
