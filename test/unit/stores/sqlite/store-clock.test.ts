import { afterEach, beforeEach, expect, it } from 'vitest'
import { createConnection } from '../../../../src/stores/sqlite/connection.ts'
import type { Connection } from '../../../../src/stores/sqlite/connection.ts'
import { loadDriver } from '../../../../src/stores/sqlite-driver.ts'
import { openStoreClock } from '../../../../src/stores/sqlite/store-clock.ts'
import { createFakeClock } from '../../../../src/testing/fake-clock.ts'

const HOUR_MS = 3_600_000

let sql: Connection
beforeEach(() => {
  sql = createConnection(new (loadDriver().DatabaseSync)(':memory:'))
  sql.exec('CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID')
})
afterEach(() => {
  sql.close()
})

it('does not care for a wall clock that jumps', async () => {
  const clock = createFakeClock()
  const store = openStoreClock(sql, clock, { readOnly: false })
  const before = store.nowMs()
  clock.jumpWall(HOUR_MS)
  expect(store.nowMs()).toBe(before)
  clock.jumpWall(-5 * HOUR_MS)
  await clock.advance(10)
  expect(store.nowMs()).toBe(before + 10)
  expect(openStoreClock(sql, clock, { readOnly: false }).nowMs()).toBe(before + 10)
})

it('goes on after a reboot, when the monotonic clock begins anew', async () => {
  const first = createFakeClock()
  const store = openStoreClock(sql, first, { readOnly: false })
  await first.advance(50_000)
  store.note()
  const last = store.nowMs()
  const afterBoot = createFakeClock({ nowMs: first.nowMs() + HOUR_MS })
  expect(openStoreClock(sql, afterBoot, { readOnly: false }).nowMs()).toBe(last + HOUR_MS)
})

it('never goes back, also when the wall clock was set back over a reboot', async () => {
  const first = createFakeClock()
  const store = openStoreClock(sql, first, { readOnly: false })
  await first.advance(50_000)
  store.note()
  const afterBoot = createFakeClock({ nowMs: first.nowMs() - HOUR_MS })
  expect(openStoreClock(sql, afterBoot, { readOnly: false }).nowMs()).toBe(store.nowMs())
})
