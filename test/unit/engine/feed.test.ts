/** Feeding seeds from sources that end, wait or break. */

import { EventEmitter, once } from 'node:events'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createDoor } from '../../../src/engine/enqueue.ts'
import { feedSeeds, type Seeds } from '../../../src/engine/feed.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createScope } from '../../../src/url/scope.ts'
import { seededRandom } from '../../../src/util/random.ts'

const settings = {
  name: 't',
  order: 'bfs',
  delayMs: 0,
  loopbackDelayMs: 0,
  maxInFlightPerHost: 1,
  identity: 'whatwg',
} as const

async function startFeeding(seeds: Seeds) {
  const random = seededRandom(1)
  const { frontier } = openMemoryStore({ clock: systemClock, random })
  await frontier.openTask(settings)
  const scope = createScope({ kind: 'host' })
  const door = createDoor({ settings, scope, maxUrlBytes: 8192, obeyNofollow: true, random })
  const abort = new AbortController()
  const firstAdd = new EventEmitter()
  const added = once(firstAdd, 'added')
  const end = feedSeeds({
    seeds,
    door,
    frontier,
    clock: systemClock,
    onProblem: () => undefined,
    onAdded: () => firstAdd.emit('added'),
    signal: abort.signal,
  })
  return { frontier, abort, added, end }
}

async function* waiting() {
  yield 'http://a.test/1'
  yield 'http://a.test/2'
  await new Promise(() => undefined)
}

it('gives what a source has given before it waits, and leaves it when told to', async () => {
  const { frontier, abort, added, end } = await startFeeding(waiting())
  await added
  expect(await frontier.stats('t')).toMatchObject({ known: 2 })
  abort.abort()
  expect(await end).toEqual({ seeds: 2, added: 2 })
})

it('closes a source that it leaves', async () => {
  let closed = false
  async function* endless() {
    try {
      for (let i = 0; ; i++) yield `http://a.test/${i}`
    } finally {
      closed = true
    }
  }
  const { abort, added, end } = await startFeeding(endless())
  await added
  abort.abort()
  await end
  expect(closed).toBe(true)
})

async function* breaking() {
  yield 'http://a.test/1'
  throw new Error('the source broke')
}

it('rejects with what the source throws, after what it gave before was added', async () => {
  const { frontier, end } = await startFeeding(breaking())
  await expect(end).rejects.toThrow('the source broke')
  expect(await frontier.stats('t')).toMatchObject({ known: 1 })
})
