/** Who works on the store: a document each, and a heartbeat beside it. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { WorkerRecord } from '../../frontier/contract.ts'
import { isGone as isProcessGone, thisProcess } from '../../util/local-process.ts'
import { LEASED } from './documents.ts'
import type { OwnerEntry } from './documents.ts'
import { createHeartbeat } from './heartbeat.ts'
import type { Heartbeat } from './heartbeat.ts'
import { liveRows, takeBack } from './lease.ts'
import type { Ledger } from './ledger.ts'
import type { Server } from './server.ts'
import { editMeta, metaOf } from './rows.ts'
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
  let isKnown = false
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
      const entry: OwnerEntry = { name, startedAt, ...thisProcess() }
      await ledger.write({
        run: (tx) => {
          editMeta(tx).owners.push(entry)
        },
      })
    },
    someoneDied: async () => {
      const nowMs = clock.monotonicMs()
      if (nowMs - askedMs < ASK_EVERY_MS) return isKnown
      askedMs = nowMs
      isKnown = (await roll.call()).some(({ isDead }) => isDead)
      return isKnown
    },
    takeBackDead: async () => {
      isKnown = false
      const all = await roll.callWithSigns()
      const dead = all.filter((one) => one.isDead)
      const lost = all.filter((one) => !one.isDead && one.leased === 0 && one.silentMs > FORGET_AFTER_MS)
      for (const owner of [...dead, ...lost]) await endOf(owner.name, { charged: true })
      return dead.length > 0
    },
    workers: async () =>
      (await roll.callWithSigns())
        .map(({ name: owner, startedAt, leased, silentMs, isDead }) => ({
          owner,
          alive: !isDead && silentMs < ALIVE_WITHIN_MS,
          leased,
          startedAt,
        }))
        .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)),
    leave: () => {
      heartbeat.stop()
      return endOf(name, { charged: false })
    },
  }
}

interface OwnerFound extends OwnerEntry {
  readonly isDead: boolean
  readonly leased: number
}
interface OwnerSeen extends OwnerFound {
  /** Since its last sign of life. */
  readonly silentMs: number
}

interface Roll {
  call(): Promise<readonly OwnerFound[]>
  callWithSigns(): Promise<readonly OwnerSeen[]>
}

function createRoll({ ledger, name: self, isGone }: OwnerOptions, heartbeat: Heartbeat): Roll {
  const isDead = (owner: OwnerEntry): boolean => {
    if (owner.name === self) return false
    return isGone === undefined ? isProcessGone({ began: '', ...owner }) : isGone(owner.name)
  }
  const call = (): Promise<OwnerFound[]> =>
    ledger.read((tx) => {
      const sums = holders(tx)
      return metaOf(tx).owners.map((owner) => ({
        ...owner,
        isDead: isDead(owner),
        leased: sums.get(owner.name) ?? 0,
      }))
    })
  return {
    call,
    callWithSigns: async () => {
      const [all, at] = await Promise.all([call(), heartbeat.all()])
      return all.map((owner) => ({
        ...owner,
        silentMs: owner.name === self ? 0 : ledger.nowMs() - (at.get(owner.name) ?? 0),
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
  for (const row of liveRows(tx, leasedKeys(tx))) if (row.lease?.owner === owner) takeBack(tx, row, how)
  if (!metaOf(tx).owners.some(({ name }) => name === owner)) return
  const meta = editMeta(tx)
  meta.owners = meta.owners.filter(({ name }) => name !== owner)
}
