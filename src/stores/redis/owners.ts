/** Who works on the store: owners that show themselves, and those whose process is known to be gone. */

import type { WorkerRecord } from '../../frontier/contract.ts'
import { isGone } from '../../util/local-process.ts'
import type { ProcessIdentity } from '../../util/local-process.ts'
import type { Session } from './session.ts'

/** What is kept of an owner beside its number. */
export interface OwnerInfo extends ProcessIdentity {
  readonly name: string
}

interface Owner {
  readonly id: string
  readonly info: OwnerInfo
  readonly startedAtMs: number
  readonly unseenMs: number
  readonly leased: number
}

/** How often an owner shows itself, and after how long without it counts as gone: for the list; its leases run out. */
export const BEAT_MS = 5000
const UNSEEN_MS = 4 * BEAT_MS
/** Owners that left nothing behind are struck off the list after this long. */
const FORGET_MS = 60 * 60 * 1000

async function allOwners(session: Session): Promise<Owner[]> {
  const [rows] = await session.ask('owners', [])
  return (rows as [string, string, string, string, number][]).map(([id, info, started, unseen, leased]) => ({
    id,
    info: parseInfo(info),
    startedAtMs: Number(started),
    unseenMs: Number(unseen),
    leased,
  }))
}

function parseInfo(json: string): OwnerInfo {
  const info = JSON.parse(json) as Partial<OwnerInfo>
  return { name: 'worker', machine: '', pid: 0, began: '', ...info }
}

export function ownerName({ name }: Pick<OwnerInfo, 'name'>, id: string): string {
  return `${name}-${id}`
}

export async function listOwners(session: Session): Promise<WorkerRecord[]> {
  const owners = await allOwners(session)
  return owners
    .toSorted((a, b) => Number(a.id) - Number(b.id))
    .map(({ id, info, startedAtMs, unseenMs, leased }) => ({
      owner: ownerName(info, id),
      alive: unseenMs < UNSEEN_MS && !isGone(info),
      leased,
      startedAt: new Date(startedAtMs).toISOString(),
    }))
}

export interface OwnerWatch {
  /** Whether another owner that holds leases is known to be dead. Asks at most every second. */
  someoneDied(): Promise<boolean>
  /** Takes back what dead owners held: false when there is none. */
  takeBackDead(): Promise<boolean>
}

const ASK_EVERY_MS = 1000

export function createOwnerWatch(session: Session): OwnerWatch {
  let askedMs = -Infinity
  let dead: readonly string[] = []
  const ask = async (): Promise<void> => {
    const nowMs = session.clock.monotonicMs()
    if (nowMs - askedMs < ASK_EVERY_MS) return
    askedMs = nowMs
    const owners = await allOwners(session)
    dead = owners.filter((owner) => owner.id !== session.owner && isOver(owner)).map(({ id }) => id)
  }
  return {
    someoneDied: async () => {
      await ask()
      return dead.length > 0
    },
    takeBackDead: async () => {
      await ask()
      const buried = dead
      dead = []
      for (const id of buried) await session.write('owner', 'bury', [id, '1'])
      return buried.length > 0
    },
  }
}

function isOver({ info, unseenMs, leased }: Owner): boolean {
  return isGone(info) || (leased === 0 && unseenMs > FORGET_MS)
}
