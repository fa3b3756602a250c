/** Stores on a real PostgreSQL server for tests: each under a prefix of its own, its clock in the test's hand. */

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { systemClock } from '../../src/core/clock.ts'
import type { Store } from '../../src/stores/contract.ts'
import { openStoreAs } from '../../src/stores/postgres/open.ts'
import type { OpenedStore } from '../../src/stores/postgres/open.ts'
import { thisProcess } from '../../src/util/local-process.ts'
import { seededRandom } from '../../src/util/random.ts'
import type { Random } from '../../src/util/random.ts'

export interface TestDatabase {
  readonly url: string
  readonly prefix: string
  /** Runs SQL on a connection of its own; `@name` stands for a table of the store. */
  sql(text: string): Promise<readonly Record<string, unknown>[]>
  open(random?: Random): Promise<OpenedStore>
  /** From now on the store's clock stands still at `ms`, or goes `ms` before the server's. */
  setClock(mode: 'still' | 'ahead', ms: number): Promise<void>
  /** Makes it look to others as if the store's process had ended, and ends it. */
  kill(store: OpenedStore): Promise<void>
  /** Closes what is open and empties every table. */
  reset(): Promise<void>
  drop(): Promise<void>
}

/** `server`: its URL. Nothing is made before the first `open`. */
export async function testDatabase(server: string): Promise<TestDatabase> {
  const prefix = `t${randomUUID().slice(0, 8)}_`
  const url = `${server}${server.includes('?') ? '&' : '?'}prefix=${prefix}`
  const client = new Client({ connectionString: server })
  await client.connect()
  const opened: Store[] = []
  let clockMode: string | undefined
  const sql = async (text: string): Promise<readonly Record<string, unknown>[]> => {
    const { rows } = await client.query<Record<string, unknown>>(text.replaceAll(/@(\w)/g, `${prefix}$1`))
    return rows
  }
  const closeAll = async (): Promise<void> => {
    for (const store of opened.splice(0)) await store.close().catch(() => undefined)
  }
  return {
    url,
    prefix,
    sql,
    open: async (random = seededRandom(opened.length + 1)) => {
      const store = await openStoreAs({ url, clock: systemClock, random })
      opened.push(store.store)
      return store
    },
    setClock: async (mode, ms) => {
      if (mode === clockMode) {
        await sql(`UPDATE @test_clock SET ms = ${ms}; NOTIFY @changes`)
        return
      }
      clockMode = mode
      const now = mode === 'still' ? '0' : 'extract(epoch FROM clock_timestamp())::float8 * 1000'
      await sql(`CREATE TABLE IF NOT EXISTS @test_clock(ms float8); TRUNCATE @test_clock;
        INSERT INTO @test_clock VALUES (${ms}); CREATE OR REPLACE FUNCTION @now() RETURNS float8 LANGUAGE sql VOLATILE
        AS 'SELECT ${now} + (SELECT ms FROM @test_clock)'; NOTIFY @changes`)
    },
    kill: async (store) => {
      store.abandon()
      const { machine } = thisProcess()
      await sql(`UPDATE @owners SET machine = '${machine}', process = '${endedProcess()}' WHERE id = ${store.ownerId}`)
    },
    reset: async () => {
      await closeAll()
      const tables = await sql(`SELECT tablename AS name FROM pg_tables WHERE tablename LIKE '${prefix}%'`)
      const kept = ['meta', 'test_clock'].map((name) => `${prefix}${name}`)
      const emptied = tables.map(({ name }) => String(name)).filter((name) => !kept.includes(name))
      await sql(`${emptied.map((name) => `DELETE FROM ${name}`).join(';')}; ALTER SEQUENCE @request_ids RESTART`)
    },
    drop: async () => {
      await closeAll()
      const tables = await sql(`SELECT tablename AS name FROM pg_tables WHERE tablename LIKE '${prefix}%'`)
      if (tables.length > 0) await sql(`DROP TABLE ${tables.map(({ name }) => String(name)).join(', ')} CASCADE`)
      await sql('DROP FUNCTION IF EXISTS @now; DROP SEQUENCE IF EXISTS @request_ids')
      await client.end()
    },
  }
}

/** Number and start of a process of this machine that has ended. */
function endedProcess(): string {
  const { stdout } = spawnSync('cat', ['/proc/self/stat'], { encoding: 'utf8' })
  const started = stdout.slice(stdout.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  return `${stdout.split(' ')[0] ?? ''}.${started}`
}
