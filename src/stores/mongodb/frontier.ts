/** The frontier of the MongoDB store: the contract's methods, each one step inside a transaction. */

import type { StoredRequest } from '../../core/request.ts'
import type { AddAnswer, Frontier, SettleAnswer, Settlement } from '../../frontier/contract.ts'
import type { Bell } from '../../frontier/wait-for-work.ts'
import { listHosts } from './list-hosts.ts'
import { addRequest, wantRequests } from './known.ts'
import { leaseNext, look, moveNextTimes, renewLeases, wantLeases } from './lease.ts'
import type { Ledger } from './ledger.ts'
import type { Owner } from './owners.ts'
import { findRecord, levelsOf, listRecords, statsOf } from './records.ts'
import { taskOf } from './rows.ts'
import { chunksOf } from './server.ts'
import type { Server } from './server.ts'
import { settleOne, wantSettlements } from './settle.ts'
import { clearTask, openTask, requeue } from './tasks.ts'
import type { Transaction } from './transaction.ts'

export interface FrontierParts {
  readonly ledger: Ledger
  readonly server: Server
  readonly bell: Bell
  readonly owner: Owner
}

/** Requests added in one transaction, and what settlements of one may find. */
const ADD_CHUNK = 1000
/** Others' commits are looked for so often while somebody waits: one document, by its id. */
const LOOK_EVERY_MS = 100

export function createMongoFrontier(parts: FrontierParts): Frontier {
  const { ledger, owner } = parts
  return {
    capabilities: { durable: true, shared: true, transactional: true, unpaced: true },
    openTask: (settings) => openTask(parts, settings),
    add: (requests) => addInChunks(ledger, requests),
    lease: async (options) => {
      const work = { run: (tx: Transaction) => leaseNext(tx, owner.name, options), weight: options.max }
      const leases = await ledger.write(work)
      if (leases.length > 0 || !(await owner.someoneDied()) || !(await owner.takeBackDead())) return leases
      return ledger.write(work)
    },
    renew: (leases, leaseMs) =>
      ledger.write({
        prepare: (tx) => {
          wantLeases(tx, leases)
        },
        run: (tx) => renewLeases(tx, leases, leaseMs),
        weight: leases.length,
      }),
    started: (leases) =>
      ledger.write({
        prepare: (tx) => {
          wantLeases(tx, leases)
        },
        run: (tx) => {
          moveNextTimes(tx, leases)
        },
        weight: leases.length,
      }),
    settle: (settlements) => settleInChunks(ledger, settlements),
    waitForWork: (options, signal) => waitForWork(parts, options, signal),
    stats: (name) => ledger.read((tx) => statsOf(taskOf(tx, name))),
    levels: (name) => ledger.read((tx) => levelsOf(tx, taskOf(tx, name))),
    hosts: (name, page) => listHosts(parts, name, page),
    workers: () => owner.workers(),
    get: (name, fingerprint) => ledger.read((tx) => findRecord(tx, name, fingerprint)),
    list: (filter, page) => listRecords(parts, filter, page),
    requeue: (filter) => requeue(parts, filter),
    clear: (name) => clearTask(parts, name),
  }
}

async function addInChunks(ledger: Ledger, requests: readonly StoredRequest[]): Promise<readonly AddAnswer[]> {
  const answers = chunksOf(requests, ADD_CHUNK).map((chunk) => {
    const byTask = new Map<string, StoredRequest[]>()
    for (const request of chunk) {
      const own = byTask.get(request.task) ?? []
      own.push(request)
      byTask.set(request.task, own)
    }
    return ledger.write({
      prepare: (tx) => {
        for (const [task, own] of byTask) wantRequests(tx, task, own)
      },
      run: (tx) => {
        for (const task of byTask.keys()) taskOf(tx, task)
        return chunk.map((request) => addRequest(tx, request, { task: taskOf(tx, request.task) }))
      },
      weight: chunk.length,
    })
  })
  return (await Promise.all(answers)).flat()
}

async function settleInChunks(ledger: Ledger, settlements: readonly Settlement[]): Promise<readonly SettleAnswer[]> {
  const chunks: Settlement[][] = []
  let room = 0
  for (const settlement of settlements) {
    const size = 1 + settlement.discovered.length + settlement.items.length
    if (size > room || chunks.length === 0) {
      chunks.push([])
      room = ADD_CHUNK
    }
    chunks.at(-1)?.push(settlement)
    room -= size
  }
  const answers = chunks.map((chunk) =>
    ledger.write({
      prepare: (tx) => {
        wantSettlements(tx, chunk)
      },
      run: (tx) => chunk.map((settlement) => settleOne(tx, settlement)),
      weight: chunk.reduce((sum, { discovered, items }) => sum + 1 + discovered.length + items.length, 0),
    }),
  )
  return (await Promise.all(answers)).flat()
}

async function waitForWork(
  { ledger, bell, owner }: FrontierParts,
  options: Parameters<Frontier['waitForWork']>[0],
  signal: AbortSignal,
): ReturnType<Frontier['waitForWork']> {
  if (signal.aborted) return 'aborted'
  for (;;) {
    // A ring that comes while the store is asked must not be missed.
    let rung = false
    const stop = new AbortController()
    const ring = async (): Promise<void> => {
      await bell.next(LOOK_EVERY_MS, stop.signal)
      rung = !stop.signal.aborted
    }
    void ring()
    try {
      const outlook = await ledger.read((tx) => look(tx, options, ledger.nowMs()))
      if (outlook.kind !== 'wait') return outlook.kind
      if (await owner.someoneDied()) return 'ready'
      if (signal.aborted) return 'aborted'
      const withinMs = Math.max(1, Math.ceil(Math.min(outlook.inMs ?? LOOK_EVERY_MS, LOOK_EVERY_MS)))
      if (!rung) await bell.next(withinMs, signal)
    } finally {
      stop.abort()
    }
    if (isAborted(signal)) return 'aborted'
  }
}

function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}
