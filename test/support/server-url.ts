/** A store of its own on a test server, whichever kind it is, named by a URL for the command. */

import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { freshUrl } from './mongodb.ts'
import { forgetStore } from './redis.ts'
import type { ServiceName } from './services.ts'

export interface FreshStore extends AsyncDisposable {
  readonly url: string
}

export async function freshStore(kind: ServiceName, server: string): Promise<FreshStore> {
  if (kind === 'MONGODB') {
    const { url, drop } = await freshUrl(server)
    return { url, [Symbol.asyncDispose]: drop }
  }
  const prefix = `t${randomUUID().slice(0, 8)}_`
  const url = `${server}${server.includes('?') ? '&' : '?'}prefix=${prefix}`
  return {
    url,
    [Symbol.asyncDispose]: () => (kind === 'REDIS' ? forgetStore(url) : dropPostgres(server, prefix)),
  }
}

/** Everything whose name begins so. */
export async function dropPostgres(server: string, prefix: string): Promise<void> {
  const client = new Client({ connectionString: server })
  await client.connect()
  const drop = async (what: string, names: string): Promise<void> => {
    const { rows } = await client.query<{ name: string }>(names, [`${prefix}%`])
    if (rows.length > 0) await client.query(`DROP ${what} ${rows.map(({ name }) => name).join(', ')} CASCADE`)
  }
  try {
    await drop('TABLE', 'SELECT tablename AS name FROM pg_tables WHERE tablename LIKE $1')
    await drop('FUNCTION', 'SELECT oid::regprocedure::text AS name FROM pg_proc WHERE proname LIKE $1')
    await drop('SEQUENCE', 'SELECT sequencename AS name FROM pg_sequences WHERE sequencename LIKE $1')
  } finally {
    await client.end()
  }
}
