/** A full disk is waited for: how long, what is told, and in what order it goes on. */

import { expect, it } from 'vitest'
import { CrawlError } from '../../../src/core/errors.ts'
import { createRoom } from '../../../src/crawler/room.ts'
import { exportFailed } from '../../../src/items/export-failed.ts'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'

const full = (): CrawlError => new CrawlError('STORE_FULL', { context: { location: 'data', problem: 'disk is full' } })

function waitingRoom(waitMs: number, untilMs?: number) {
  const clock = createFakeClock()
  const told: string[] = []
  const room = createRoom({ clock, waitMs, untilMs, onWait: (message) => told.push(message) })
  return { clock, told, room }
}

it('tries again until there is room, in the order of the calls, and tells of it now and then', async () => {
  const { clock, told, room } = waitingRoom(86_400_000)
  let isFull = true
  const done: string[] = []
  const write = (name: string) => async (): Promise<void> => {
    if (isFull) throw full()
    done.push(name)
  }
  const all = Promise.all(['settle', 'lease'].map((name) => room.patiently('data', write(name))))
  await clock.advance(100_000)
  expect(done).toEqual([])
  expect(told).toHaveLength(4)
  expect(told[0]).toContain('no room is left for data, and the crawl waits')
  isFull = false
  await clock.advance(2000)
  await all
  expect(done).toEqual(['settle', 'lease'])
  expect(told.at(-1)).toBe('there is room for data again: the crawl goes on')
  expect(clock.waiting).toBe(0)
})

it('holds what needs room elsewhere, and nothing once it is over', async () => {
  const { clock, room } = waitingRoom(60_000)
  const cause = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  const pumping = room.patiently('out.jsonl', () => Promise.reject(exportFailed('out.jsonl', cause)))
  const failed = expect(pumping).rejects.toMatchObject({ code: 'EXPORT_FAILED' })
  await clock.advance(10)
  expect(room.besides('out.jsonl')).toBeUndefined()
  const held = room.besides('data')
  expect(held).toBeDefined()
  await clock.advance(65_000)
  await failed
  await held
  expect(room.besides('data')).toBeUndefined()
})

it('is left by Ctrl-C, by the end of the time of the crawl, and by any other fault at once', async () => {
  const { clock, room, told } = waitingRoom(86_400_000, 5000)
  const waiting = room.patiently('data', () => Promise.reject(full()))
  const over = expect(waiting).rejects.toMatchObject({ code: 'STORE_FULL' })
  await clock.advance(6000)
  await over
  await expect(room.patiently('data', () => Promise.reject(new Error('torn')))).rejects.toThrow('torn')
  const other = waitingRoom(86_400_000)
  const stopped = other.room.patiently('data', () => Promise.reject(full()))
  const left = expect(stopped).rejects.toMatchObject({ code: 'STORE_FULL' })
  await other.clock.advance(10)
  other.room.giveUp()
  await left
  await expect(waitingRoom(0).room.patiently('data', () => Promise.reject(full()))).rejects.toThrow()
  expect(told).toHaveLength(1)
})
