import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Redis } from 'ioredis'
import { start } from '../../../scripts/services/redis.mjs'
import type { RedisService } from '../../../scripts/services/redis.mjs'
import { systemClock } from '../../../src/core/clock.ts'
import { openRedisStore } from '../../../src/stores/redis/store.ts'
import type { RedisStoreOptions } from '../../../src/stores/redis/store.ts'
import { begin, leaseOne, request, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { serviceUrl } from '../../support/services.ts'

const SECRET = 'hunter2hunter2'

type Fields = Pick<RedisStoreOptions, 'url'> & Partial<RedisStoreOptions>

function open(fields: Fields): ReturnType<typeof openRedisStore> {
  return openRedisStore({ clock: systemClock, random: systemRandom, ...fields })
}

/** What opening says, with everything that a log would show of it. */
async function faultOf(fields: Fields): Promise<{ code: unknown; text: string }> {
  try {
    await using store = await open(fields)
    return { code: 'none', text: store.location }
  } catch (error) {
    const { code } = error as { code: unknown }
    return { code, text: inspect(error, { depth: 10, showHidden: true }) }
  }
}

describe.skipIf(serviceUrl('REDIS') === undefined)('opening a Redis store', () => {
  let service: RedisService | undefined
  let admin: Redis | undefined
  const at = (user: string, rest = ''): string => `redis://${user}127.0.0.1:${service?.port ?? 0}${rest}`
  beforeAll(async () => {
    service = await start({ args: ['--requirepass', SECRET] })
    admin = new Redis(service.port, { password: SECRET, protocol: 2 })
    await admin.acl('SETUSER', 'weak', 'on', `>${SECRET}`, '~*', '+ping', '+info', '+select')
    await admin.acl('SETUSER', 'elsewhere', 'on', `>${SECRET}`, '~other*', '&*', '+@all')
  })
  afterAll(async () => {
    admin?.disconnect()
    await service?.stop()
  })

  it('works with the password, and shows it nowhere', async () => {
    await using store = await open({ url: at(`:${SECRET}@`) })
    expect(store.location).toBe(`redis://127.0.0.1:${service?.port ?? 0}/0`)
    expect(inspect(store, { depth: 10 })).not.toContain(SECRET)
  })

  it.each([
    ['without the password', '', /expected a password/],
    ['with a wrong password', `:wrong${SECRET}@`, /that it refuses them/],
    ['as an unknown user', `nobody:${SECRET}@`, /that it refuses them/],
    ['without the right to run scripts', `weak:${SECRET}@`, /expected the right to run scripts/],
    ['without the right to its keys', `elsewhere:${SECRET}@`, /expected the right to run scripts/],
  ])('%s says what was expected and found, without credentials', async (_, user, sentence) => {
    const { code, text } = await faultOf({ url: at(user) })
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toMatch(sentence)
    expect(text).not.toContain(SECRET)
  })

  it('where nothing listens, or by an unknown name, says so', async () => {
    const refused = await faultOf({ url: 'redis://127.0.0.1:1' })
    expect(refused.code).toBe('STORE_UNAVAILABLE')
    expect(refused.text).toMatch(/nothing listens/)
    const unknown = await faultOf({ url: 'redis://no-such-host.invalid' })
    expect(unknown.code).toBe('STORE_UNAVAILABLE')
    expect(unknown.text).toMatch(/expected the name of a host|connection fails/)
  })

  it('a database that the server does not have says so', async () => {
    const { code } = await faultOf({ url: at(`:${SECRET}@`, '/99') })
    expect(code).toBe('STORE_UNAVAILABLE')
  })

  it('of a newer format says which, and changes nothing', async () => {
    await admin?.hset('{newer_}meta', 'format', '99')
    for (const readOnly of [false, true]) {
      const { code, text } = await faultOf({ url: at(`:${SECRET}@`, '?prefix=newer_'), readOnly })
      expect(code).toBe('STORE_FORMAT_MISMATCH')
      expect(text).toContain('99')
    }
    expect(await admin?.keys('{newer_}*')).toEqual(['{newer_}meta'])
  })

  it('keys that hold something else say so', async () => {
    await admin?.set('{taken_}meta', 'mine')
    const { code } = await faultOf({ url: at(`:${SECRET}@`, '?prefix=taken_') })
    expect(code).toBe('STORE_CORRUPT')
    expect(await admin?.get('{taken_}meta')).toBe('mine')
  })

  it('for reading finds no crawl where there is none, and makes nothing', async () => {
    const { code, text } = await faultOf({ url: at(`:${SECRET}@`, '?prefix=none_'), readOnly: true })
    expect(code).toBe('STORE_UNAVAILABLE')
    expect(text).toMatch(/no crawl/)
    expect(await admin?.keys('{none_}*')).toEqual([])
  })

  it('for reading works beside a writer, and writes nothing', async () => {
    const url = at(`:${SECRET}@`, `?prefix=${randomUUID()}:`)
    await using writer = await open({ url })
    await begin({ store: writer }, [request('a'), request('b')])
    await using reader = await open({ url, readOnly: true })
    await writer.frontier.settle([settlement(await leaseOne(writer))])
    const { done, pending } = await reader.frontier.stats(TASK)
    expect([done, pending]).toEqual([1, 1])
    expect(await reader.verify()).toEqual([])
    expect((await reader.frontier.workers()).length).toBe(1)
    await expect(reader.frontier.add([request('x')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await reader.frontier.waitForWork({ tasks: [TASK] }, new AbortController().signal)).toBe('ready')
  })

  it('two crawls with other prefixes know nothing of each other', async () => {
    await using one = await open({ url: at(`:${SECRET}@`, '?prefix=one_') })
    await using two = await open({ url: at(`:${SECRET}@`, '?prefix=two_') })
    await begin({ store: one }, [request('a')])
    expect([await one.tasks(), await two.tasks()]).toEqual([[TASK], []])
  })

  it('a server without an append-only file works, warns, and does not claim to be durable', async () => {
    const loose = await start({ args: ['--appendonly', 'no'] })
    try {
      const warnings: string[] = []
      await using store = await open({ url: loose.url, onWarning: (sentence) => warnings.push(sentence) })
      expect(store.frontier.capabilities.durable).toBe(false)
      expect(warnings).toEqual([expect.stringContaining('appendonly yes')])
    } finally {
      await loose.stop()
    }
  })

  it('a server that answers before it writes is warned of; one that does not tell is not', async () => {
    const late = await start({ args: ['--appendfsync', 'everysec'] })
    const silent = await start({ args: ['--rename-command', 'CONFIG', ''] })
    try {
      const warnings: string[] = []
      const onWarning = (sentence: string): number => warnings.push(sentence)
      await (await open({ url: late.url, onWarning })).close()
      expect(warnings).toEqual([expect.stringContaining('appendfsync always')])
      await (await open({ url: silent.url, onWarning })).close()
      expect(warnings.length).toBe(1)
    } finally {
      await late.stop()
      await silent.stop()
    }
  })

  it('a server whose memory is full says so, loses nothing, and goes on when there is room', async () => {
    const small = await start({ args: ['--maxmemory', '3mb'] })
    const control = new Redis(small.url, { protocol: 2 })
    try {
      await using store = await open({ url: small.url })
      await begin({ store }, [])
      let added = 0
      const fill = async (): Promise<void> => {
        for (;;) {
          const batch = Array.from({ length: 500 }, (_, n) => request(`${n % 9}.test/${added + n}`))
          await store.frontier.add(batch)
          added += batch.length
        }
      }
      await expect(fill()).rejects.toMatchObject({ code: 'STORE_FULL' })
      expect(await store.verify()).toEqual([])
      expect((await store.frontier.stats(TASK)).known).toBe(added)
      await control.config('SET', 'maxmemory', '0')
      expect(await store.frontier.add([request('after')])).toEqual(['added'])
      expect(await store.verify()).toEqual([])
    } finally {
      control.disconnect()
      await small.stop()
    }
  })
})
