/** A worker that is stopped in the middle of a transaction holds rows: others wait for these, and keep their leases meanwhile. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { request, settings, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { testDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { serviceUrl } from '../../support/services.ts'

const server = serviceUrl('POSTGRES')

let database: TestDatabase | undefined
beforeAll(async () => {
  if (server !== undefined) database = await testDatabase(server)
})
afterAll(() => database?.drop())

/** Until so many sessions of this store wait for a lock. */
async function untilBlocked({ sql, prefix }: TestDatabase, sessions: number): Promise<void> {
  const blocked = `SELECT count(*)::int AS n, pg_sleep(0.01) FROM pg_stat_activity
    WHERE query LIKE '%${prefix}%' AND pid <> pg_backend_pid() AND cardinality(pg_blocking_pids(pid)) > 0`
  for (let n = 0; n < sessions; n = Number((await sql(blocked))[0]?.['n'] ?? 0)) {
    // in a transaction, what was seen of the sessions stays as it was
    await sql('SELECT pg_stat_clear_snapshot()')
  }
}

it.skipIf(server === undefined)(
  'leases are renewed while all else waits for a host that a stopped worker holds',
  async () => {
    if (database === undefined) throw new Error('Expected a server')
    const { store } = await database.open()
    const { frontier } = store
    await frontier.openTask(settings())
    await frontier.add(['h.test/1', 'x.test/1'].map((name) => request(name)))
    const held = await frontier.lease({ tasks: [TASK], max: 9, leaseMs: 60_000 })
    const [first, second] = held
    if (first === undefined || second === undefined) throw new Error('Expected two leases')
    await frontier.add([request('y.test/1')])

    await database.sql('BEGIN')
    await database.sql('SELECT * FROM @hosts FOR UPDATE')
    const waiting = [
      frontier.settle([settlement(first)]),
      frontier.lease({ tasks: [TASK], max: 1, leaseMs: 60_000 }),
      frontier.add([request('h.test/2')]),
    ]
    await untilBlocked(database, waiting.length)
    // what is being settled needs no renewal, and must not keep others from theirs
    const renewed = await frontier.renew([first, second], 60_000).finally(() => database?.sql('ROLLBACK'))
    expect(renewed).toEqual([false, true])
    expect(await Promise.all(waiting)).toMatchObject([['settled'], [{ hostKey: 'y.test' }], ['added']])
    expect(await frontier.settle([settlement(second)])).toEqual(['settled'])
    expect(await store.verify()).toEqual([])
  },
)
