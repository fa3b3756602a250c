/** Who works on the store: each owner holds a lock that the system drops with its process, so that death is a fact. */

import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import type { WorkerRecord } from '../../frontier/contract.ts'
import { makeFolder } from '../../util/make-folder.ts'
import type { Connection } from './connection.ts'
import { loadDriver } from '../sqlite-driver.ts'
import type { Database } from '../sqlite-driver.ts'
import { isBusy } from './errors.ts'
import { takeBack } from './lease.ts'
import type { LeaseRow } from './lease.ts'
import type { Session } from './session.ts'

export interface OwnerLock {
  readonly name: string
  release(): void
}

/** An SQLite file of its own, held in an exclusive transaction: the lock is the same on every system. */
export function lockOwner(dir: string, wanted: string | undefined): OwnerLock {
  const name = `${wanted ?? 'worker'}-${randomUUID().slice(0, 8)}`
  const folder = join(dir, 'workers')
  makeFolder(folder)
  const path = lockPath(dir, name)
  const db = new (loadDriver().DatabaseSync)(path)
  db.exec('BEGIN EXCLUSIVE')
  return {
    name,
    release: () => {
      db.close()
      rmSync(path, { force: true })
    },
  }
}

/** Before the lock is gone no one may take the owner for dead; so its row comes after the lock. */
export function registerOwner(sql: Connection, name: string, clock: Clock): number {
  const startedAt = new Date(clock.nowMs()).toISOString()
  const row = sql.one<{ id: number }>(
    'INSERT INTO owners(name, started_at) VALUES (?, ?) RETURNING id',
    name,
    startedAt,
  )
  return row?.id ?? 0
}

interface OwnerRow {
  readonly id: number
  readonly name: string
  readonly started_at: string
}

/** Owners whose process is gone. Opens a file for each other owner: not for every call. */
export function deadOwners(session: Session, dir: string): readonly OwnerRow[] {
  const others = session.sql.all<OwnerRow>('SELECT * FROM owners WHERE id <> ?', session.ownerId)
  return others.filter(({ name }) => !isAlive(dir, name))
}

/** To be called inside a transaction. */
export function buryOwner(session: Session, dir: string, { id, name }: OwnerRow): void {
  giveBack(session, id, { charged: true })
  rmSync(lockPath(dir, name), { force: true })
}

/** Takes all leases of the owner back and forgets it. To be called inside a transaction. */
export function giveBack(session: Session, ownerId: number, how: { readonly charged: boolean }): void {
  const leases = session.sql.all<LeaseRow>('SELECT id, queue_id, leased_at FROM leases WHERE owner_id = ?', ownerId)
  for (const lease of leases) takeBack(session, lease, how)
  session.sql.run('DELETE FROM owners WHERE id = ?', ownerId)
}

export function listOwners({ sql, ownerId }: Session, dir: string): WorkerRecord[] {
  const rows = sql.all<OwnerRow & { leased: number }>(
    `SELECT o.*, (SELECT count(*) FROM leases l WHERE l.owner_id = o.id) AS leased FROM owners o ORDER BY o.id`,
  )
  return rows.map(({ id, name, leased, started_at: startedAt }) => ({
    owner: name,
    alive: id === ownerId || isAlive(dir, name),
    leased,
    startedAt,
  }))
}

function isAlive(dir: string, name: string): boolean {
  let db: Database | undefined
  try {
    db = new (loadDriver().DatabaseSync)(lockPath(dir, name), { readOnly: true, timeout: 0 })
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    db?.close()
  }
}

function lockPath(dir: string, name: string): string {
  return join(dir, 'workers', `${name.replaceAll(/[^\w.-]/g, '_')}.lock`)
}
