/** A shared store that cannot be had: one line that says what was expected and found, without credentials, and status 3. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { start as startMongodb } from '../../scripts/services/mongodb.mjs'
import { start as startPostgres } from '../../scripts/services/postgres.mjs'
import { start as startRedis } from '../../scripts/services/redis.mjs'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'
import { serviceUrl } from '../support/services.ts'

const SECRET = 'hunter2hunter2'

async function expectRefusal(store: string, sentence: RegExp): Promise<void> {
  await using folder = await openTemporaryFolder()
  for (const command of [['crawl', 'http://127.0.0.1:9/', '--dir', folder.path, '--quiet'], ['status'], ['verify']]) {
    const end = await runSpoor([...command, '--store', store])
    expect(end, end.stderr).toMatchObject({ code: 3, stdout: '' })
    expect(end.stderr).toMatch(/^spoor: The store at \S+ cannot be opened: [^\n]+\n$/)
    expect(end.stderr).toMatch(sentence)
    expect(end.stderr).not.toContain(SECRET)
  }
}

it.each(['postgres', 'redis', 'mongodb'])('%s where nothing listens', { timeout: 300_000 }, async (scheme) => {
  await expectRefusal(`${scheme}://user:${SECRET}@127.0.0.1:1/0`, /expected a .*(server|Redis)/)
})

describe.runIf(serviceUrl('POSTGRES') !== undefined)('PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  const as = (user: string, password: string): string => {
    const url = new URL(server.url)
    url.username = user
    url.password = password
    return url.href
  }
  beforeAll(async () => {
    server = await startPostgres()
    const client = new Client({ connectionString: server.url })
    await client.connect()
    await client.query(`CREATE ROLE weak LOGIN PASSWORD '${SECRET}'; REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
    await client.end()
  }, 300_000)
  afterAll(async () => {
    await server.stop()
  })

  it('refuses a wrong password', { timeout: 300_000 }, async () => {
    await expectRefusal(as('spoor', `wrong${SECRET}`), /password/)
  })

  it('refuses a user without rights', { timeout: 300_000 }, async () => {
    await expectRefusal(as('weak', SECRET), /right|no crawl/)
  })
})

describe.runIf(serviceUrl('REDIS') !== undefined)('Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>
  const as = (login: string): string => `redis://${login}@127.0.0.1:${server.port}/0`
  beforeAll(async () => {
    server = await startRedis({ args: ['--requirepass', SECRET] })
    const admin = new Redis(server.port, { password: SECRET, protocol: 2 })
    await admin.acl('SETUSER', 'weak', 'on', `>${SECRET}`, '~*', '+ping', '+info', '+select')
    admin.disconnect()
  }, 300_000)
  afterAll(async () => {
    await server.stop()
  })

  it('refuses a wrong password', { timeout: 300_000 }, async () => {
    await expectRefusal(as(`:wrong${SECRET}`), /password/)
  })

  it('refuses a user without rights', { timeout: 300_000 }, async () => {
    await expectRefusal(as(`weak:${SECRET}`), /right/)
  })
})

describe.runIf(serviceUrl('MONGODB') !== undefined)('MongoDB', () => {
  it('refuses a wrong password', { timeout: 300_000 }, async () => {
    const server = await startMongodb({ setup: { user: 'spoor', password: SECRET } })
    try {
      const url = `mongodb://spoor:wrong${SECRET}@127.0.0.1:${server.port}/spoor?authSource=admin&authMechanism=SCRAM-SHA-256`
      await expectRefusal(url, /password/)
    } finally {
      await server.stop()
    }
  })
})
