/** Items and small state of the embedded store. */

import type { StateStore } from '../../core/state-store.ts'
import type { ItemStore } from '../../items/contract.ts'
import { ITEMS_OF_TASK } from './schema.ts'
import { taskOf } from './session.ts'
import type { Session } from './session.ts'
import type { WriteQueue } from './write-queue.ts'

export function createItems(session: Session, queue: WriteQueue): ItemStore {
  return {
    read: async (name, after, max) =>
      queue.read(() => {
        const from = taskOf(session, name).id * ITEMS_OF_TASK
        const rows = session.sql.all<{ id: number; json: string }>(
          'SELECT id, json FROM items WHERE id > ? AND id < ? ORDER BY id LIMIT ?',
          from + after,
          from + ITEMS_OF_TASK,
          max,
        )
        return rows.map(({ id, json }) => ({ seq: id - from, json }))
      }),
    revision: async (name) => queue.read(() => taskOf(session, name).revision),
  }
}

/** Values are kept as JSON: the driver ends a text at its first NUL and cannot carry half a surrogate pair. */
export function createState({ sql }: Session, queue: WriteQueue): StateStore {
  return {
    get: async (key) =>
      queue.read(() => {
        const row = sql.one<{ value: string }>('SELECT value FROM state WHERE key = ?', key)
        return row === undefined ? undefined : (JSON.parse(row.value) as string)
      }),
    set: (entries) =>
      queue.write(() => {
        for (const [key, value] of Object.entries(entries)) {
          if (value === undefined) sql.run('DELETE FROM state WHERE key = ?', key)
          else sql.run('INSERT OR REPLACE INTO state VALUES (?, ?)', key, JSON.stringify(value))
        }
      }),
    keys: async (prefix) =>
      queue.read(() =>
        sql
          .all<{ key: string }>(
            'SELECT key FROM state WHERE key >= ? AND substr(key, 1, ?) = ? ORDER BY key',
            prefix,
            [...prefix].length,
            prefix,
          )
          .map(({ key }) => key),
      ),
  }
}
