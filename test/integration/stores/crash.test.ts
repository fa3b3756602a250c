import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { openSqliteStore } from '../../../src/stores/sqlite/store.ts'
import { begin, leaseOne, request, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'

const POINTS = [
  'settle:lease-ended',
  'settle:host',
  'settle:outcome',
  'settle:items',
  'settle:discovered',
  'settle:before-commit',
]

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'spoor-crash-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true, force: true })
})

function open(): Promise<Store> {
  return openSqliteStore({ dir, clock: systemClock, random: systemRandom })
}

/** Runs the worker until it dies; answers the fingerprints whose settlement was acknowledged. */
async function workUntilKilled(point: string, rounds: number): Promise<string[]> {
  const worker = fileURLToPath(new URL('crash-worker.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'jiti/register', worker, dir, point, String(rounds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const signal = await new Promise((resolve) => child.on('close', (_code, by) => resolve(by)))
  expect(signal).toBe('SIGKILL')
  return text.split('\n').filter((line) => line !== '')
}

async function seed(): Promise<void> {
  await using store = await open()
  await begin({ store }, [request('a'), request('b')])
}

describe('a process that is killed', () => {
  it.each(POINTS)('at %s leaves the settlement undone as a whole', async (point) => {
    await seed()
    const settled = await workUntilKilled(point, 3)
    expect(settled.length).toBe(3)
    await using store = await open()
    expect(await store.verify()).toEqual([])
    const { done, known, items, leased, pending, counters } = await store.frontier.stats(TASK)
    expect({ done, known, items, leased, pending, bytes: counters.bytes }).toEqual({
      done: 3,
      known: 2 + 3 * 3,
      items: 3,
      leased: 0,
      pending: 8,
      bytes: 3,
    })
    // what was in flight comes back at once, and is the next
    expect((await leaseOne(store)).attempt).toBe(2)
  })

  it('after the acknowledgement has settled it', async () => {
    await seed()
    const settled = await workUntilKilled('acknowledged', 5)
    await using store = await open()
    expect(await store.verify()).toEqual([])
    for (const fingerprint of settled) expect((await store.frontier.get(TASK, fingerprint))?.state).toBe('done')
    expect((await store.frontier.stats(TASK)).done).toBe(6)
  })

  // The file is new to this process: a closed connection of its own could still hold the index of the log.
  it('and whose last page of the log was torn leaves a sound store that goes on', async () => {
    await workUntilKilled('acknowledged', 20)
    const wal = join(dir, 'spoor.db-wal')
    truncateSync(wal, statSync(wal).size - 1000)
    await using store = await open()
    expect(await store.verify()).toEqual([])
    const { done } = await store.frontier.stats(TASK)
    expect(done).toBeGreaterThanOrEqual(19)
    await store.frontier.settle([settlement(await leaseOne(store))])
    expect((await store.frontier.stats(TASK)).done).toBe(done + 1)
  })
})

async function codeOf(options: { readOnly?: boolean } = {}): Promise<unknown> {
  try {
    await using store = await openSqliteStore({ dir, clock: systemClock, random: systemRandom, ...options })
    return store.location
  } catch (error) {
    return { code: 'code' in Object(error) ? (error as { code: string }).code : error, text: String(error) }
  }
}

describe('opening', () => {
  it('a folder without a crawl for reading says so, and makes nothing', async () => {
    expect(await codeOf({ readOnly: true })).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      text: expect.stringContaining('no crawl in') as string,
    })
    expect(() => statSync(join(dir, 'spoor.db'))).toThrow()
  })

  it('a file where the folder should be says so', async () => {
    const file = join(dir, 'file')
    writeFileSync(file, 'x')
    const outer = dir
    dir = file
    expect(await codeOf()).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      text: expect.stringContaining('not a folder') as string,
    })
    dir = outer
    expect(readFileSync(file, 'utf8')).toBe('x')
  })

  it('a damaged file says so and changes nothing', async () => {
    const bytes = Buffer.from('this was a database once. '.repeat(1000))
    writeFileSync(join(dir, 'spoor.db'), bytes)
    expect(await codeOf()).toMatchObject({ code: 'STORE_CORRUPT' })
    expect(await codeOf({ readOnly: true })).toMatchObject({ code: 'STORE_CORRUPT' })
    expect(readFileSync(join(dir, 'spoor.db')).equals(bytes)).toBe(true)
  })

  it('a file with a damaged middle is found out by verify or refused', async () => {
    await seed()
    const path = join(dir, 'spoor.db')
    const bytes = readFileSync(path)
    bytes.fill(0x5a, 4096 * 3, 4096 * 12)
    writeFileSync(path, bytes)
    try {
      await using store = await openSqliteStore({ dir, clock: systemClock, random: systemRandom, readOnly: true })
      expect(await store.verify()).not.toEqual([])
    } catch (error) {
      expect(error).toMatchObject({ code: 'STORE_CORRUPT' })
    }
  })

  it('a newer format says which, and changes nothing', async () => {
    await seed()
    const { loadDriver } = await import('../../../src/stores/sqlite-driver.ts')
    const db = new (loadDriver().DatabaseSync)(join(dir, 'spoor.db'))
    db.exec("UPDATE meta SET value = 99 WHERE key = 'format'")
    db.close()
    expect(await codeOf()).toMatchObject({
      code: 'STORE_FORMAT_MISMATCH',
      text: expect.stringContaining('99') as string,
    })
    expect(await codeOf({ readOnly: true })).toMatchObject({ code: 'STORE_FORMAT_MISMATCH' })
  })

  it('for reading works beside a writer, and writes nothing', async () => {
    await seed()
    await using writer = await open()
    await using reader = await openSqliteStore({ dir, clock: systemClock, random: systemRandom, readOnly: true })
    await writer.frontier.settle([settlement(await leaseOne(writer))])
    const { done, pending } = await reader.frontier.stats(TASK)
    expect([done, pending]).toEqual([1, 1])
    expect(await reader.verify()).toEqual([])
    await expect(reader.frontier.add([request('x')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect((await reader.frontier.workers()).length).toBe(1)
  })
})
