/** What is handed on for each page has one hidden class, however many pages there are: code that reads it stays fast. */

import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { Crawler } from '../../../src/crawler/crawler.ts'
import type { Settlement } from '../../../src/frontier/contract.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { treeSite } from '../../../src/testing/site-shapes.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { openTemporaryFolder } from '../../support/command.ts'

setFlagsFromString('--allow-natives-syntax')
const haveOneShape = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean
// compiled at its first call
haveOneShape({}, {})
setFlagsFromString('--no-allow-natives-syntax')

/** How many hidden classes the objects have between them. */
function shapesOf(objects: readonly object[]): number {
  const shapes: object[] = []
  for (const one of objects) if (!shapes.some((shape) => haveOneShape(shape, one))) shapes.push(one)
  return shapes.length
}

it('gives settlements, leases and requests few shapes', async () => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(200, 3)
  await using site = await openTestSite(shape.handler)
  await using memory = openMemoryStore({ clock: systemClock, random: systemRandom })
  const seen: Settlement[] = []
  const frontier: typeof memory.frontier = {
    ...memory.frontier,
    settle: (settlements) => {
      seen.push(...settlements)
      return memory.frontier.settle(settlements)
    },
  }
  const crawler = new Crawler({ dir: folder.path, store: { ...memory, frontier }, cache: 'off' })
  expect(await crawler.run(site.url(shape.seed))).toMatchObject({ pages: 200 })
  const done = seen.filter(({ outcome }) => outcome.kind === 'done')
  expect(done).toHaveLength(200)
  // V8 may make a few before it has learnt what the fields hold
  expect(shapesOf(done)).toBeLessThan(6)
  expect(shapesOf(done.map(({ lease }) => lease))).toBeLessThan(6)
  expect(shapesOf(done.flatMap(({ discovered }) => discovered))).toBeLessThan(6)
  expect(shapesOf(done.map(({ counts }) => counts ?? {}))).toBeLessThan(6)
})
