import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../../../src/core/clock.ts'
import { createConnection } from '../../../../src/stores/sqlite/connection.ts'
import type { Connection } from '../../../../src/stores/sqlite/connection.ts'
import { loadDriver } from '../../../../src/stores/sqlite-driver.ts'
import { createWriteQueue } from '../../../../src/stores/sqlite/write-queue.ts'
import type { WriteQueue } from '../../../../src/stores/sqlite/write-queue.ts'

let dir = ''
let sql: Connection
let queue: WriteQueue
let begun = 0
let rolledBack = 0

function connect(): Connection {
  const connection = createConnection(new (loadDriver().DatabaseSync)(join(dir, 'x.db')))
  connection.exec('PRAGMA journal_mode = WAL')
  return connection
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'spoor-queue-'))
  sql = connect()
  sql.exec('CREATE TABLE t(n INTEGER PRIMARY KEY)')
  begun = 0
  rolledBack = 0
  queue = createWriteQueue(
    { sql, clock: systemClock, location: dir },
    {
      onBegin: () => {
        begun++
      },
      onFlush: () => undefined,
      onRollback: () => {
        rolledBack++
      },
      onCommit: () => undefined,
    },
  )
})
afterEach(async () => {
  await queue.close()
  sql.close()
  rmSync(dir, { recursive: true, force: true })
})

const insert = (n: number): Promise<number> => queue.write(() => sql.run('INSERT INTO t VALUES (?)', n))
const rows = (): number[] => queue.read(() => sql.all<{ n: number }>('SELECT n FROM t ORDER BY n')).map(({ n }) => n)

it('takes what is asked for in one turn in one transaction, in order', async () => {
  await Promise.all([insert(3), insert(1), insert(2)])
  expect(begun).toBe(1)
  expect(rows()).toEqual([1, 2, 3])
})

it('lets only the guilty one of a batch fail', async () => {
  const ends = await Promise.allSettled([insert(1), insert(1), insert(2)])
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(rows()).toEqual([1, 2])
  expect(rolledBack).toBe(2)
})

it('waits for another connection’s lock without blocking', async () => {
  const other = connect()
  other.exec('BEGIN IMMEDIATE')
  const written = insert(1)
  let turns = 0
  for (; turns < 20; turns++) await new Promise((resolve) => void setImmediate(resolve))
  other.exec('COMMIT')
  other.close()
  await written
  expect(rows()).toEqual([1])
})

it('begins no transaction while it is paused', async () => {
  const pause = new AbortController()
  queue.pauseFor(new Promise((resolve) => pause.signal.addEventListener('abort', () => resolve())))
  const written = insert(1)
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve))
  expect(begun).toBe(0)
  pause.abort()
  await written
  expect(begun).toBe(1)
})

it('writes what was asked for before it closes, and refuses what comes later', async () => {
  const written = insert(1)
  await queue.close()
  await written
  await expect(insert(2)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})
