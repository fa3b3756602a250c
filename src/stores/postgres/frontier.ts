/** The frontier of the PostgreSQL store: the contract's methods. */

import type { Frontier } from '../../frontier/contract.ts'
import { addRequests } from './add.ts'
import { listHosts } from './list-hosts.ts'
import { lease, moveNextTimes, renew } from './lease.ts'
import { listOwners } from './owners.ts'
import type { OwnerWatch } from './owners.ts'
import { findRecord, levelsOf, listRecords, statsOf } from './records.ts'
import type { Session } from './session.ts'
import { settle } from './settlements.ts'
import { requeue } from './sift.ts'
import { clearTask, openTask } from './tasks.ts'
import { waitForWork } from './wait.ts'
import type { SharedBell } from './bell.ts'

export interface FrontierParts {
  readonly session: Session
  readonly bell: SharedBell
  readonly owners: OwnerWatch
}

export function createPostgresFrontier({ session, bell, owners }: FrontierParts): Frontier {
  return {
    capabilities: { durable: true, shared: true, transactional: true, unpaced: true },
    openTask: (settings) => openTask(session, settings),
    add: (requests) => addRequests(session, requests),
    lease: async (options) => {
      const leases = await lease(session, options)
      if (leases.length > 0 || !(await owners.buryDead())) return leases
      return lease(session, options)
    },
    renew: (leases, leaseMs) => renew(session, leases, leaseMs),
    started: (leases) => moveNextTimes(session, leases),
    settle: (settlements) => settle(session, settlements),
    waitForWork: (options, signal) =>
      waitForWork({ session, bell, buryDead: () => owners.buryDead() }, options, signal),
    stats: (name) => statsOf(session, name),
    levels: (name) => levelsOf(session, name),
    hosts: (name, page) => listHosts(session, name, page),
    workers: () => listOwners(session),
    get: (name, fingerprint) => findRecord(session, name, fingerprint),
    list: (filter, page) => listRecords(session, filter, page),
    requeue: (filter) => requeue(session, filter),
    clear: (name) => clearTask(session, name),
  }
}
