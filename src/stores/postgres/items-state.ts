/** Items and small state of the PostgreSQL store. */

import type { StateStore } from '../../core/state-store.ts'
import type { ItemStore, StoredItem } from '../../items/contract.ts'
import type { Link } from './link.ts'
import { currentTask } from './session.ts'
import type { Session } from './session.ts'

export function createItems(session: Session): ItemStore {
  return {
    read: async (name, after, max) => {
      const { id } = await currentTask(session, name)
      return session.link.run((connection) =>
        connection.rows<StoredItem>(
          'SELECT seq, json FROM @items WHERE task_id = $1::int AND seq > $2::bigint ORDER BY seq LIMIT $3::int',
          id,
          after,
          max,
        ),
      )
    },
    revision: async (name) => {
      const { id } = await currentTask(session, name)
      const [row] = await session.link.run((connection) =>
        connection.rows<{ readonly revision: number }>('SELECT revision FROM @places WHERE task_id = $1::int', id),
      )
      return row?.revision ?? 0
    },
  }
}

const SET_STATE = `WITH x AS (SELECT * FROM json_to_recordset($1::json) AS x(key text, value text)),
  gone AS (DELETE FROM @state s USING x WHERE s.key = x.key AND x.value IS NULL)
  INSERT INTO @state SELECT key, value FROM x WHERE value IS NOT NULL ORDER BY key
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`

/** Values are kept as JSON: PostgreSQL's texts hold neither NUL nor half a surrogate pair. */
export function createState(link: Link): StateStore {
  return {
    get: async (key) => {
      const [row] = await link.run((connection) =>
        connection.rows<{ readonly value: string }>('SELECT value FROM @state WHERE key = $1', key),
      )
      return row === undefined ? undefined : (JSON.parse(row.value) as string)
    },
    set: async (entries) => {
      const rows = Object.entries(entries).map(([key, value]) => ({
        key,
        value: value === undefined ? null : JSON.stringify(value),
      }))
      if (rows.length > 0) await link.run((connection) => connection.rows(SET_STATE, JSON.stringify(rows)))
    },
    keys: async (prefix) => {
      const rows = await link.run((connection) =>
        connection.rows<{ readonly key: string }>(
          'SELECT key FROM @state WHERE key >= $1 AND left(key, length($1)) = $1 ORDER BY key',
          prefix,
        ),
      )
      return rows.map(({ key }) => key)
    },
  }
}
