/** Items as rows of a PostgreSQL table of their own: an exporter for `new Crawler({ output, exportFormat })`. */

import type { Exporter, ExportFormat, OpenExporterOptions, StoredItem } from '../../items/contract.ts'
import { type Client, loadDriver } from './driver.ts'

export interface PostgresTableOptions {
  /** `postgres://user:password@host:port/database`: that of the store, or any other. */
  readonly url: string
  /** Small letters, digits and `_`; at most 50. It is made, and replaced when a crawl is begun afresh. */
  readonly table: string
}

interface TablePosition {
  readonly seq: number
  readonly rows: number
}

const NAME = /^[a-z_][a-z0-9_]{0,49}$/
/** What tells an export from a table that is somebody's own. */
const MARK = 'items, exported by Spoor'
/** Of a draft that takes the table's place when it is whole. */
const DRAFT = /\.spoor-tmp$/

/**
 * Rows `(seq bigint primary key, item jsonb)`, each item once whatever dies. `output` names the export for the store and its
 * lock on this machine; no file is written there. Throws TypeError for a name that is none.
 */
export function postgresTable({ url, table }: PostgresTableOptions): ExportFormat {
  if (!NAME.test(table))
    throw new TypeError(`table: expected small letters, digits and _ (at most 50), found "${table}"`)
  const nameOf = (file: string): string => (DRAFT.test(file) ? `${table}_draft` : table)
  const once = async (work: (client: Client) => Promise<unknown>): Promise<void> => {
    const client = await connect(url)
    try {
      await work(client)
    } finally {
      await client.end()
    }
  }
  return {
    name: 'postgres-table',
    live: true,
    sidecars: [],
    open: (options) => openTable(url, nameOf(options.file), options),
    replace: (from, to) =>
      once(async (client) => {
        await checkOwn(client, nameOf(to))
        // several statements in one query are one transaction
        await client.query(`DROP TABLE IF EXISTS ${nameOf(to)}; ALTER TABLE ${nameOf(from)} RENAME TO ${nameOf(to)}`)
      }),
    remove: (file) =>
      once(async (client) => {
        await checkOwn(client, nameOf(file))
        await client.query(`DROP TABLE IF EXISTS ${nameOf(file)}`)
      }),
  }
}

async function connect(url: string): Promise<Client> {
  const { Client: PgClient } = await loadDriver()
  const client = new PgClient({ connectionString: url })
  client.on('error', () => undefined) // the next query meets it
  await client.connect()
  return client
}

async function openTable(url: string, name: string, { position }: OpenExporterOptions): Promise<Exporter | undefined> {
  const client = await connect(url)
  try {
    const isThere = await checkOwn(client, name)
    const at = position === undefined ? { seq: 0, rows: 0 } : parsePosition(position)
    const goesOn = position !== undefined && isThere && at !== undefined && (await cutBack(client, name, at))
    if (at !== undefined && goesOn) return createExporter(client, name, at)
    if (position === undefined) {
      await client.query(
        `DROP TABLE IF EXISTS ${name}; CREATE TABLE ${name}(seq bigint PRIMARY KEY, item jsonb NOT NULL); COMMENT ON TABLE ${name} IS '${MARK}'`,
      )
      return createExporter(client, name, { seq: 0, rows: 0 })
    }
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
  await client.end()
  return undefined
}

/** False: there is no such table. Throws when there is one that Spoor did not make. */
async function checkOwn(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ mark: string | null }>(
    `SELECT obj_description(to_regclass($1), 'pg_class') AS mark WHERE to_regclass($1) IS NOT NULL`,
    [name],
  )
  const [found] = rows
  if (found === undefined) return false
  if (found.mark !== MARK)
    throw new Error(`${name} is a table that Spoor did not make: choose another name, or remove it`)
  return true
}

/** False: it does not hold what it held at that position. */
async function cutBack(client: Client, name: string, { seq, rows }: TablePosition): Promise<boolean> {
  const counted = await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${name} WHERE seq <= $1`, [seq])
  if (Number(counted.rows[0]?.n) !== rows) return false
  await client.query(`DELETE FROM ${name} WHERE seq > $1`, [seq])
  return true
}

function createExporter(client: Client, name: string, start: TablePosition): Exporter {
  let { seq, rows } = start
  let closing: Promise<void> | undefined
  return {
    write: async (items) => {
      const last = items.at(-1)
      if (last === undefined) return
      await client.query(`INSERT INTO ${name} SELECT * FROM unnest($1::bigint[], $2::jsonb[])`, [
        items.map((item) => item.seq),
        items.map(jsonOf),
      ])
      seq = last.seq
      rows += items.length
    },
    position: () => JSON.stringify({ seq, rows }),
    outdated: () => false,
    sync: () => Promise.resolve(), // committed with each write
    finish: () => Promise.resolve(),
    close: () => (closing ??= client.end()),
  }
}

/** PostgreSQL's text has no NUL. */
const jsonOf = ({ json }: StoredItem): string => (json.includes('\\u0000') ? withoutNul(json) : json)

function withoutNul(json: string): string {
  return JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '\u{fffd}') : value,
  )
}

function parsePosition(text: string): TablePosition | undefined {
  try {
    const { seq, rows } = JSON.parse(text) as Partial<Record<string, unknown>>
    if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(rows)) return undefined
    return { seq: Number(seq), rows: Number(rows) }
  } catch {
    return undefined
  }
}
