/** Who works on the store: a document each, and a heartbeat beside it. */

import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
// oxlint-disable-next-line node/no-restricted-import, no-restricted-globals -- asks whether a process of this machine is alive
import process from 'node:process'
import type { Clock } from '../../core/clock.ts'
import type { WorkerRecord } from '../../frontier/contract.ts'
import { LEASED } from './documents.ts'
import type { OwnerDocument } from './documents.ts'
import { createHeartbeat } from './heartbeat.ts'
import type { Heartbeat } from './heartbeat.ts'
import { takeBack } from './lease.ts'
import type { Ledger } from './ledger.ts'
import type { Server } from './server.ts'
import type { Transaction } from './transaction.ts'

export interface Owner {
  readonly name: string
  /** Begins the heartbeat. */
  register(): Promise<void>
  /** Whether another owner of this machine is known to be gone. Asks at most every second. */
  someoneDied(): Promise<boolean>
  /** Takes back what owners held that are gone. Answers whether there were any. */
  takeBackDead(): Promise<boolean>
  workers(): Promise<readonly WorkerRecord[]>
  /** Gives back what this owner holds, and ends the heartbeat. */
  leave(): Promise<void>
}

export interface OwnerOptions {
  readonly server: Server
  readonly ledger: Ledger
  readonly clock: Clock
  readonly name: string
  /** Only for tests: in place of asking this machine's system. */
  readonly isGone: ((owner: string) => boolean) | undefined
}

/** Whose heartbeat is older is listed as not alive; whose is much older and who holds nothing is forgotten. */
const ALIVE_WITHIN_MS = 20_000
const FORGET_AFTER_MS = 10 * 60_000
const ASK_EVERY_MS = 1000

export function ownerName(wanted: string | undefined): string {
  return `${wanted ?? 'worker'}-${randomUUID().slice(0, 12)}`
}

export function createOwner(options: OwnerOptions): Owner {
  const { ledger, clock, name } = options
  const heartbeat = createHeartbeat(options)
  const roll = createRoll(options, heartbeat)
  let askedMs = -Infinity
  const endOf = async (owner: string, how: { readonly charged: boolean }): Promise<void> => {
    await ledger.write({
      run: (tx) => {
        giveBack(tx, owner, how)
      },
    })
    await heartbeat.forget(owner)
  }
  return {
    name,
    register: async () => {
      await heartbeat.start()
      const startedAt = new Date(ledger.nowMs()).toISOString()
      const doc = { startedAt, machine: roll.machine, pid: process.pid }
      await ledger.write({
        run: (tx) => {
          tx.create('owners', name, doc)
        },
      })
    },
    someoneDied: async () => {
      const nowMs = clock.monotonicMs()
      if (nowMs - askedMs < ASK_EVERY_MS) return false
      askedMs = nowMs
      return (await roll.call()).some(({ isDead }) => isDead)
    },
    takeBackDead: async () => {
      const all = await roll.callWithSigns()
      const dead = all.filter((one) => one.isDead)
      const lost = all.filter((one) => !one.isDead && one.leased === 0 && one.silentMs > FORGET_AFTER_MS)
      for (const { id } of [...dead, ...lost]) await endOf(id, { charged: true })
      return dead.length > 0
    },
    workers: async () =>
      (await roll.callWithSigns())
        .map(({ id, doc, leased, silentMs, isDead }) => ({
          owner: id,
          alive: !isDead && silentMs < ALIVE_WITHIN_MS,
          leased,
          startedAt: doc.startedAt,
        }))
        .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)),
    leave: () => {
      heartbeat.stop()
      return endOf(name, { charged: false })
    },
  }
}

interface OwnerFound {
  readonly id: string
  readonly doc: OwnerDocument
  readonly isDead: boolean
}
interface OwnerSeen extends OwnerFound {
  readonly leased: number
  /** Since its last sign of life. */
  readonly silentMs: number
}

interface Roll {
  readonly machine: string
  call(): Promise<readonly OwnerFound[]>
  callWithSigns(): Promise<readonly OwnerSeen[]>
}

function createRoll({ server, ledger, name, isGone }: OwnerOptions, heartbeat: Heartbeat): Roll {
  const machine = machineIdentity()
  const isDead = (id: string, doc: OwnerDocument): boolean => {
    if (id === name) return false
    return isGone === undefined ? doc.machine === machine && !isRunning(doc.pid) : isGone(id)
  }
  const call = async (): Promise<OwnerFound[]> => {
    const all = await server.find('owners', {})
    return all.flatMap(({ id, doc }) => (doc === undefined ? [] : [{ id, doc, isDead: isDead(id, doc) }]))
  }
  return {
    machine,
    call,
    callWithSigns: async () => {
      const holding = await ledger.read(holders)
      const [all, at] = await Promise.all([call(), heartbeat.all()])
      return all.map((one) => ({
        ...one,
        leased: holding.get(one.id) ?? 0,
        silentMs: one.id === name ? 0 : ledger.nowMs() - (at.get(one.id) ?? 0),
      }))
    },
  }
}

/** How many leases each owner holds. */
function holders(tx: Transaction): Map<string, number> {
  const sums = new Map<string, number>()
  for (const key of leasedKeys(tx)) {
    const owner = tx.get('requests', key)?.lease?.owner
    if (owner !== undefined) sums.set(owner, (sums.get(owner) ?? 0) + 1)
  }
  return sums
}

function leasedKeys(tx: Transaction): string[] {
  const keys = tx.head('requests', LEASED, { n: Number.MAX_SAFE_INTEGER })
  tx.need('requests', keys)
  return keys
}

/** Takes all leases of the owner back and forgets it. */
function giveBack(tx: Transaction, owner: string, how: { readonly charged: boolean }): void {
  for (const key of leasedKeys(tx)) {
    const row = tx.get('requests', key)
    if (row?.lease?.owner === owner) takeBack(tx, row, how)
  }
  tx.put('owners', owner, undefined)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It is there and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The same for processes that see each other's numbers: same boot, same namespace. Elsewhere than on Linux, the host's name. */
function machineIdentity(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
