import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { isCrawlError } from '../../../src/core/errors.ts'
import { loadDriver } from '../../../src/stores/postgres/driver.ts'
import { openPostgresStore } from '../../../src/stores/postgres/store.ts'
import { begin, leaseOne, request, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { testDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { serviceUrl } from '../../support/services.ts'

const server = serviceUrl('POSTGRES')

let database: TestDatabase | undefined
beforeAll(async () => {
  if (server !== undefined) database = await testDatabase(server)
})
afterAll(() => database?.drop())

function given(): TestDatabase {
  if (database === undefined) throw new Error('Expected a database')
  return database
}

async function refusal(url: string, readOnly = false): Promise<{ readonly code: string; readonly text: string }> {
  try {
    await using store = await openPostgresStore({ url, clock: systemClock, random: systemRandom, readOnly })
    return { code: 'none', text: store.location }
  } catch (error) {
    return { code: isCrawlError(error) ? error.code : 'foreign', text: String(error) }
  }
}

function changed(change: (url: URL) => void): string {
  const url = new URL(given().url)
  change(url)
  return url.href
}

describe('a PostgreSQL store', () => {
  it('asks for its driver by the command that installs it', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
    await expect(loadDriver(() => Promise.reject(missing))).rejects.toMatchObject({
      code: 'PEER_MISSING',
      message: expect.stringContaining('npm install pg') as string,
    })
  })

  it.each(['mysql://u:secret@h/d', 'not a url with secret', 'postgres://u:secret@h/d?prefix=DROP TABLE'])(
    'refuses the address %s without repeating its secret',
    async (url) => {
      const { code, text } = await refusal(url)
      expect(code).toBe('CONFIG_INVALID')
      expect(text).not.toContain('secret')
    },
  )

  it('says that nobody answers where there is no server', async () => {
    const { code, text } = await refusal('postgres://somebody:hidden@127.0.0.1:9/d')
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toContain('postgres://127.0.0.1:9/d')
    expect(text).toContain('refused')
    expect(text).not.toMatch(/somebody|hidden/)
  })
})

describe.skipIf(server === undefined)('opening a PostgreSQL store', () => {
  it('with a wrong password says what is wrong, and nothing of the credentials', async () => {
    const { code, text } = await refusal(changed((url) => (url.password = 'hidden')))
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toContain('a password that the server accepts')
    expect(text).not.toContain('hidden')
  })

  it('of a database that is not there says so', async () => {
    const { code, text } = await refusal(changed((url) => (url.pathname = '/nowhere')))
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toContain('createdb')
  })

  it('without the right to make tables names the right', async () => {
    const { sql, prefix } = given()
    const role = `${prefix}guest`
    await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'guest'`)
    try {
      const url = changed((to) => {
        to.username = role
        to.password = 'guest'
      })
      const { code, text } = await refusal(url)
      expect(code).toBe('STORE_UNAVAILABLE')
      expect(text).toContain('GRANT CREATE')
    } finally {
      await sql(`DROP ROLE ${role}`)
    }
  })

  it('for reading where there is no crawl says so, and makes nothing', async () => {
    const { code, text } = await refusal(
      changed((url) => url.searchParams.set('prefix', 'nobody_')),
      true,
    )
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toContain('no crawl in it')
    expect(await given().sql("SELECT 1 FROM pg_tables WHERE tablename LIKE 'nobody%'")).toEqual([])
  })

  it('by many at once makes the tables once', async () => {
    const { url, open, reset } = given()
    const stores = await Promise.all(Array.from({ length: 4 }, () => open()))
    expect(new Set(stores.map(({ ownerId }) => ownerId)).size).toBe(4)
    expect(stores[0]?.store.location).toBe(url.replace(/\/\/.*@/, '//'))
    await reset()
  })

  it('of a newer format says which, and changes nothing', async () => {
    const { url, open, sql } = given()
    await (await open()).store.close()
    await sql("UPDATE @meta SET value = '99'")
    for (const readOnly of [false, true]) {
      const { code, text } = await refusal(url, readOnly)
      expect(code).toBe('STORE_FORMAT_MISMATCH')
      expect(text).toContain('99')
    }
    await sql("UPDATE @meta SET value = '1'")
  })

  it('for reading works beside a writer, and writes nothing', async () => {
    const { url, open } = given()
    const { store } = await open()
    await begin({ store }, [request('a'), request('b')])
    await using reader = await openPostgresStore({ url, clock: systemClock, random: systemRandom, readOnly: true })
    await store.frontier.settle([settlement(await leaseOne(store))])
    const { done, pending } = await reader.frontier.stats(TASK)
    expect([done, pending]).toEqual([1, 1])
    expect(await reader.verify()).toEqual([])
    await expect(reader.frontier.add([request('x')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await expect(reader.state.set({ a: 'b' })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect((await reader.frontier.workers()).length).toBe(1)
    await store.close()
  })

  it('is not kept from the tables by another user’s schema of the same name', async () => {
    const { sql, url, prefix } = given()
    const schema = `${prefix}apart`
    await sql(`CREATE SCHEMA ${schema}`)
    try {
      const apart = new URL(url)
      apart.searchParams.set('options', `-c search_path=${schema}`)
      expect((await refusal(apart.href)).code).toBe('none')
      const client = new Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query('SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = $1', [schema])
      await client.end()
      expect((rows[0] as { n: number }).n).toBeGreaterThan(10)
    } finally {
      await sql(`DROP SCHEMA ${schema} CASCADE`)
    }
  })
})
