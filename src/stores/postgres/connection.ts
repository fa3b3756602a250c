/** One connection to the server: what is sent is sent at once, whatever is still unanswered. */

import type { Clock } from '../../core/clock.ts'
import type { Client, Driver } from './driver.ts'
import type { Address } from './address.ts'

export interface Connection {
  /** False: nothing can be asked of it any more. */
  readonly alive: boolean
  /** Names the server's process for this connection: a condition on `pg_stat_activity`. */
  readonly backend: string
  /** One statement with values; its plan is kept. `@name` stands for a table or function of this store. */
  rows<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]>
  /** Several statements with numbers inside instead of values: the rows of each. One that fails ends the rest. */
  script(sql: string, options?: { readonly timeoutMs?: number }): Promise<readonly (readonly object[])[]>
  /** Calls back once when the connection ends, however it does. */
  onEnd(fn: () => void): void
  onNotice(fn: (payload: string) => void): void
  /** Also ends what is still under way. */
  close(): Promise<void>
}

export interface ConnectOptions {
  readonly driver: Driver
  readonly address: Address
  /** Shown in the server's list of sessions. */
  readonly name: string
  readonly readOnly: boolean
  readonly clock: Clock
}

/** No answer for this long counts as a lost connection. */
const ANSWER_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
const GOODBYE_MS = 2000

/**
 * Every look-up here goes by an index, and joins are written in the order in which they are to be made. A plan that was
 * made while the tables were small must not stay when they are not (one cost 70 ms instead of 1): so the planner is given
 * no choice. A transaction whose worker has stopped must not keep others
 * from their rows, nor a connection that nobody hears of.
 */
const SETTINGS = `
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;
SET join_collapse_limit = 1; SET from_collapse_limit = 1;
SET idle_in_transaction_session_timeout = '5s'; SET lock_timeout = '20s';
SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; SET tcp_user_timeout = '20s';
SET client_min_messages = 'warning'; SET standard_conforming_strings = on;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SELECT format('pid = %s AND backend_start = %L', pid, backend_start) AS backend FROM pg_stat_activity
WHERE pid = pg_backend_pid()`

/** OIDs of the types of numbers (all below 2^53 here) and of truth; everything else is text. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701])
const BOOL = 16

const types = {
  getTypeParser:
    (oid: number) =>
    (text: string): unknown =>
      NUMBERS.has(oid) ? Number(text) : oid === BOOL ? text === 't' : text,
}
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { driver, address, name, readOnly, clock } = options
  const client = new driver.Client({
    connectionString: address.url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    types,
    // one round trip for several statements
    pipeline: true,
  })
  const connection = wrap(client, address.prefix, clock)
  try {
    await client.connect()
    const [row] = (await connection.script(SETTINGS)).at(-1) as readonly { readonly backend: string }[]
    if (row !== undefined) connection.backend = row.backend
    if (readOnly) await connection.script('SET default_transaction_read_only = on')
    return connection
  } catch (error) {
    await connection.close()
    throw error
  }
}

function wrap(client: Client, prefix: string, clock: Clock): Connection & { backend: string } {
  const names = new Map<string, { readonly name: string; readonly text: string }>()
  const named = (sql: string): string => sql.replaceAll(/@(\w)/g, `${prefix}$1`)
  const prepared = (sql: string): { readonly name: string; readonly text: string } => {
    let statement = names.get(sql)
    if (statement === undefined) {
      statement = { name: `s${names.size}`, text: named(sql) }
      names.set(sql, statement)
    }
    return statement
  }
  const endings = new Set<() => void>()
  let alive = true
  const ended = (): void => {
    alive = false
    for (const ending of endings) ending()
    endings.clear()
  }
  client.on('end', ended)
  // also told by the answers that never come
  client.on('error', ended)
  return {
    get alive() {
      return alive
    },
    backend: 'false',
    rows: async <Row>(sql: string, ...values: readonly unknown[]) => {
      const { rows } = await client.query({ ...prepared(sql), values: [...values] })
      return rows as Row[]
    },
    script: async (sql, { timeoutMs } = {}) => {
      const timeout = timeoutMs === undefined ? {} : { query_timeout: timeoutMs }
      const result: unknown = await client.query({ text: named(sql), ...timeout })
      const results = (Array.isArray(result) ? result : [result]) as { readonly rows: readonly object[] }[]
      return results.map(({ rows }) => rows)
    },
    onEnd: (fn) => {
      if (alive) endings.add(fn)
      else fn()
    },
    onNotice: (fn) => {
      client.on('notification', ({ payload }) => {
        fn(payload ?? '')
      })
    },
    close: async () => {
      alive = false
      const said = new AbortController()
      const goodbye = client.end().catch(() => undefined)
      await Promise.race([goodbye, clock.sleep(GOODBYE_MS, said.signal)])
      said.abort()
      // A server that does not even hear this: the driver's type does not tell of its socket.
      const { stream } = Object(client).connection as { readonly stream: { destroy(): void } }
      stream.destroy()
    },
  }
}
