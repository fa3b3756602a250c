/** A data folder whose file another process has locked when it is opened. */

import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Clock } from '../../../../src/core/clock.ts'
import { systemClock } from '../../../../src/core/clock.ts'
import { loadDriver } from '../../../../src/stores/sqlite-driver.ts'
import { openSqliteStore } from '../../../../src/stores/sqlite/store.ts'
import { seededRandom } from '../../../../src/util/random.ts'
import { openTemporaryFolder } from '../../../support/command.ts'

/** Time passes only while somebody waits. */
function clockOf(onWait: (nowMs: number) => void): Clock {
  let now = 0
  const sleep = async (): Promise<void> => {
    onWait((now += 5000))
  }
  return { ...systemClock, monotonicMs: () => now, sleep }
}

const random = seededRandom(1)
const open = (dir: string, clock: Clock) => openSqliteStore({ dir, clock, random })

it('is waited for: a process that was stopped in a transaction goes on', async () => {
  await using folder = await openTemporaryFolder()
  await (await open(folder.path, systemClock)).close()
  const other = new (loadDriver().DatabaseSync)(join(folder.path, 'spoor.db'))
  other.exec('BEGIN IMMEDIATE')
  const clock = clockOf((nowMs) => {
    if (nowMs === 15_000) other.exec('ROLLBACK')
  })
  const store = await open(folder.path, clock)
  expect(await store.verify()).toEqual([])
  await store.close()
  other.close()
})

it('is said to be locked after half a minute', async () => {
  await using folder = await openTemporaryFolder()
  await (await open(folder.path, systemClock)).close()
  const other = new (loadDriver().DatabaseSync)(join(folder.path, 'spoor.db'))
  other.exec('BEGIN IMMEDIATE')
  await expect(
    open(
      folder.path,
      clockOf(() => undefined),
    ),
  ).rejects.toMatchObject({
    code: 'STORE_BUSY',
    context: { location: folder.path, waitedMs: 30_000 },
  })
  other.close()
})
