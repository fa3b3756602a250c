import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadDriver } from '../../../../src/stores/sqlite-driver.ts'
import { openSqliteStore } from '../../../../src/stores/sqlite/store.ts'
import { createFakeClock } from '../../../../src/testing/fake-clock.ts'
import { request, settings, TASK } from '../../../../src/testing/suite/subject.ts'
import { seededRandom } from '../../../../src/util/random.ts'
import { openTemporaryFolder } from '../../../support/command.ts'

it('hosts that an older version put among those that answer find their place', async () => {
  await using folder = await openTemporaryFolder()
  const clock = createFakeClock()
  const open = () => openSqliteStore({ dir: folder.path, clock, random: seededRandom(1) })
  const first = await open()
  await first.frontier.openTask(settings())
  await first.frontier.add(Array.from({ length: 100 }, (_, n) => request(`new${n}.test/1`)))
  await first.close()
  const db = new (loadDriver().DatabaseSync)(join(folder.path, 'spoor.db'))
  // as it was before silent hosts had a range of their own
  db.exec(`UPDATE queues SET due_ms = due_ms + ${2 ** 43}`)
  db.close()

  const store = await open()
  const lease = (maxSilent: number) => store.frontier.lease({ tasks: [TASK], max: 1, leaseMs: 60_000, maxSilent })
  for (let n = 0; n < 3; n++) expect(await lease(0)).toEqual([])
  const abort = new AbortController()
  const waiting = store.frontier.waitForWork({ tasks: [TASK], maxSilent: 0 }, abort.signal)
  abort.abort()
  expect(await waiting).toBe('aborted')
  for (let n = 0; n < 100; n++) expect(await lease(1)).toMatchObject([{ silent: true }])
  await store.close()
})
