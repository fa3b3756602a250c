/** Who works on the store: each owner has a row that it renews, and that goes when it leaves. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { WorkerRecord } from '../../frontier/contract.ts'
import { isGone, thisProcess } from '../../util/local-process.ts'
import type { Link } from './link.ts'
import type { Session } from './session.ts'
import { takeBack } from './upkeep.ts'

const BEAT_EVERY_MS = 5000
/** An owner that was not heard of for so long is not shown as alive. Its leases are its own until they expire. */
const ALIVE_MS = 30_000
/** Rows of owners that never came back are swept. */
const FORGET_MS = 24 * 3600 * 1000
/** How often others on this machine are looked at. */
const ASK_EVERY_MS = 1000

export interface Owner {
  readonly id: number
  readonly name: string
}

export async function registerOwner(link: Link, wanted: string | undefined): Promise<Owner> {
  const name = `${wanted ?? 'worker'}-${randomUUID().slice(0, 8)}`
  const { machine, pid, began } = thisProcess()
  const [row] = await link.run((connection) =>
    connection.rows<{ readonly id: number }>(
      `INSERT INTO @owners AS o(name, started_at, beat_at, machine, process)
       SELECT $1, to_char(to_timestamp(t.now / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), t.now, $2, $3
       FROM (SELECT @now() AS now OFFSET 0) t
       ON CONFLICT (name) DO UPDATE SET beat_at = excluded.beat_at RETURNING id`,
      name,
      machine,
      `${pid}.${began}`,
    ),
  )
  if (row === undefined) throw new Error('Expected the row of the new owner, found none')
  return { id: row.id, name }
}

export interface Heart {
  stop(): Promise<void>
}

/** Says that this owner is alive, every few seconds. A beat that fails is made good by the next. */
export function startHeart(session: Session, clock: Clock): Heart {
  let beating: Promise<unknown> = Promise.resolve()
  let cancel = clock.timer(BEAT_EVERY_MS, beat, true)
  let stopped = false
  function beat(): void {
    beating = session.link
      .run((connection) =>
        connection.rows('UPDATE @owners SET beat_at = (SELECT @now()) WHERE id = $1::int', session.ownerId),
      )
      .catch(() => undefined)
      .finally(() => {
        if (!stopped) cancel = clock.timer(BEAT_EVERY_MS, beat, true)
      })
  }
  return {
    stop: async () => {
      stopped = true
      cancel()
      await beating
    },
  }
}

interface OwnerRow {
  readonly id: number
  readonly name: string
  readonly started_at: string
  readonly machine: string | null
  readonly process: string | null
  readonly silent_ms: number
  readonly leased: number
}

async function readOwners(session: Session): Promise<readonly OwnerRow[]> {
  return session.link.run((connection) =>
    connection.rows<OwnerRow>(
      `SELECT o.id, o.name, o.started_at, o.machine, o.process, (SELECT @now()) - o.beat_at AS silent_ms,
       (SELECT count(*) FROM @leases l WHERE l.owner_id = o.id) AS leased FROM @owners o ORDER BY o.id`,
    ),
  )
}

export async function listOwners(session: Session): Promise<readonly WorkerRecord[]> {
  const rows = await readOwners(session)
  return rows.map((row) => ({
    owner: row.name,
    alive: row.id === session.ownerId || (row.silent_ms < ALIVE_MS && !isDead(row)),
    leased: row.leased,
    startedAt: row.started_at,
  }))
}

function isDead({ machine, process }: OwnerRow): boolean {
  if (machine === null || process === null) return false
  const [pid, began = ''] = process.split('.')
  return isGone({ machine, pid: Number(pid), began })
}

export interface OwnerWatch {
  /** Takes back what dead owners held. Answers whether there were any. Asks at most every second. */
  buryDead(): Promise<boolean>
}

export function createOwnerWatch(session: Session): OwnerWatch {
  let askedMs = -Infinity
  return {
    buryDead: async () => {
      const nowMs = session.clock.monotonicMs()
      if (nowMs - askedMs < ASK_EVERY_MS) return false
      askedMs = nowMs
      const rows = await readOwners(session)
      const dead = rows.filter((row) => row.id !== session.ownerId && isDead(row))
      for (const { id } of dead) await giveBack(session, id, { charged: true })
      await session.link.run((connection) =>
        connection.rows('DELETE FROM @receipts WHERE written_at < (SELECT @now()) - $1::float8', FORGET_MS),
      )
      for (const row of rows) if (row.silent_ms > FORGET_MS && row.leased === 0) await forgetOwner(session, row.id)
      return dead.some(({ leased }) => leased > 0)
    },
  }
}

/** Takes all leases of the owner back and forgets it. */
export async function giveBack(session: Session, ownerId: number, how: { readonly charged: boolean }): Promise<void> {
  await takeBack(session, `l.owner_id = ${ownerId}`, how)
  await forgetOwner(session, ownerId)
}

async function forgetOwner({ link }: Session, id: number): Promise<void> {
  await link.run((connection) => connection.rows('DELETE FROM @owners WHERE id = $1::int', id))
}
