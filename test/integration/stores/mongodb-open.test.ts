import { inspect } from 'node:util'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { start } from '../../../scripts/services/mongodb.mjs'
import type { MongodbService } from '../../../scripts/services/mongodb.mjs'
import { systemClock } from '../../../src/core/clock.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { openMongodbStore } from '../../../src/stores/mongodb/store.ts'
import { begin, drain, leaseOne, request, settings, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { freshUrl } from '../../support/mongodb.ts'
import { serviceUrl } from '../../support/services.ts'

const server = serviceUrl('MONGODB')
const SECRET = 'hunter2hunter2'

function open(url: string, readOnly = false): Promise<Store> {
  return openMongodbStore({ url, readOnly, clock: systemClock, random: systemRandom })
}

/** What opening says, with everything that a log would show of it. */
async function faultOf(url: string, readOnly = false): Promise<{ code: unknown; text: string }> {
  try {
    await using store = await open(url, readOnly)
    return { code: 'none', text: store.location }
  } catch (error) {
    const { code } = error as { code: unknown }
    return { code, text: inspect(error, { depth: 10, showHidden: true }) }
  }
}

describe.skipIf(server === undefined)('opening a MongoDB store', () => {
  let service: MongodbService | undefined
  beforeAll(async () => {
    service = await start({ setup: { user: 'crawler', password: SECRET } })
  })
  afterAll(async () => {
    await service?.stop()
  })

  const at = (login: string): string => `mongodb://${login}127.0.0.1:${service?.port ?? 0}/spoor?authSource=admin`

  it('works with the password, and shows it nowhere', async () => {
    await using store = await open(at(`crawler:${SECRET}@`))
    expect(store.location).toBe(`mongodb://127.0.0.1:${service?.port ?? 0}/spoor`)
    expect(inspect(store, { depth: 10 })).not.toContain(SECRET)
  })

  it.each([
    ['with a wrong password', `crawler:wrong${SECRET}@`],
    ['as an unknown user', `nobody:${SECRET}@`],
  ])('%s says what was expected and found, without credentials', async (_, login) => {
    const { code, text } = await faultOf(at(login))
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toMatch(/expected a user and password that the server accepts/)
    expect(text).not.toContain(SECRET)
  })

  it('where nothing listens says so within seconds', async () => {
    const { code, text } = await faultOf(`mongodb://someone:${SECRET}@127.0.0.1:1/x`)
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toMatch(/expected a server to answer there/)
    expect(text).not.toContain(SECRET)
  })

  it.each([
    'mongodb://',
    'mongodb://h/a b',
    'mongodb://h/x?prefix=$no',
    `mongodb://someone:${SECRET}@h/x?nonsense=1`,
    'postgres://h/x',
  ])('refuses the URL %s', async (url) => {
    const { code, text } = await faultOf(url)
    expect(code).toBe('CONFIG_INVALID')
    expect(text).not.toContain(SECRET)
  })

  it('of a newer format says which, and changes nothing', async () => {
    const place = await freshUrl(server ?? '')
    const client = await new MongoClient(place.url).connect()
    const db = client.db(place.database)
    await db.collection<{ _id: string; n: number }>('spoor_head').insertOne({ _id: 'format', n: 99 })
    for (const readOnly of [false, true]) {
      const { code, text } = await faultOf(place.url, readOnly)
      expect(code).toBe('STORE_FORMAT_MISMATCH')
      expect(text).toContain('99')
    }
    expect((await db.listCollections().toArray()).map(({ name }) => name)).toEqual(['spoor_head'])
    await client.close()
    await place.drop()
  })

  it('for reading only finds no crawl where there is none, and makes nothing', async () => {
    const place = await freshUrl(server ?? '')
    const { code, text } = await faultOf(place.url, true)
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toMatch(/there is no crawl in this database/)
    const client = await new MongoClient(place.url).connect()
    expect(await client.db(place.database).listCollections().toArray()).toEqual([])
    await client.close()
  })
})

describe.skipIf(server === undefined)('a MongoDB store', () => {
  it('read by another while it is at work shows what was acknowledged, and refuses to be changed', async () => {
    const place = await freshUrl(server ?? '')
    const store = await open(place.url)
    await begin({ store }, [request('a'), request('b')])
    await store.frontier.settle([settlement(await leaseOne(store), { items: [{ data: { n: 1 } }] })])
    const reader = await open(place.url, true)
    expect(await reader.tasks()).toEqual([TASK])
    const { done, pending, items } = await reader.frontier.stats(TASK)
    expect({ done, pending, items }).toEqual({ done: 1, pending: 1, items: 1 })
    expect((await reader.items.read(TASK, 0, 9)).map(({ json }) => json)).toEqual(['{"n":1}'])
    expect((await reader.frontier.list({ task: TASK, state: 'done' }, { max: 9 })).records.length).toBe(1)
    await expect(reader.frontier.add([request('c')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await reader.close()
    await store.close()
    await place.drop()
  })

  it('keeps two prefixes in one database apart', async () => {
    const place = await freshUrl(server ?? '')
    const [one, two] = await Promise.all([open(place.url), open(`${place.url}?prefix=other_`)])
    await begin({ store: one }, [request('a')])
    expect(await two.tasks()).toEqual([])
    await two.frontier.openTask(settings())
    expect(await drain(two)).toEqual([])
    expect(await drain(one)).toEqual(['a'])
    await Promise.all([one.close(), two.close()])
    await place.drop()
  })

  it('keeps items and links that are too large for one document', async () => {
    const place = await freshUrl(server ?? '')
    const store = await open(place.url)
    await begin({ store }, [request('a')])
    const text = `${'ü😀'.repeat(1_500_000)}\ud800`
    const discovered = Array.from({ length: 3000 }, (_, n) =>
      request(`far${n}`, { depth: 1, url: `http://h.test/${'x'.repeat(2000)}${n}` }),
    )
    await store.frontier.settle([settlement(await leaseOne(store), { discovered, items: [{ data: { text } }] })])
    const other = await open(place.url)
    const [item] = await other.items.read(TASK, 0, 1)
    expect(item?.json === JSON.stringify({ text })).toBe(true)
    expect((await other.frontier.stats(TASK)).pending).toBe(3000)
    expect(await other.verify()).toEqual([])
    await Promise.all([store.close(), other.close()])
    await place.drop()
  }, 300_000)

  it('begins anew when it is further behind than the log is kept', async () => {
    const place = await freshUrl(server ?? '')
    const [busy, slow] = [await open(place.url), await open(place.url)]
    await begin({ store: busy }, [request('0')])
    expect((await slow.frontier.stats(TASK)).known).toBe(1)
    for (let n = 1; n <= 150; n++) await busy.frontier.add([request(String(n))])
    expect((await slow.frontier.stats(TASK)).known).toBe(151)
    expect((await drain(slow)).length).toBe(151)
    expect(await busy.verify()).toEqual([])
    await Promise.all([busy.close(), slow.close()])
    await place.drop()
  }, 300_000)
})
