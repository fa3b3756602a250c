/** Items and small state over Redis. */

import type { StateStore } from '../../core/state-store.ts'
import type { ItemStore, StoredItem } from '../../items/contract.ts'
import { pairsOf } from './encode.ts'
import type { Session } from './session.ts'

/** Numbers of items looked at in one script: some were replaced and are gone. */
const READ_WINDOW = 2000

export function createItems(session: Session): ItemStore {
  return {
    read: async (task, after, max) => {
      const items: StoredItem[] = []
      for (let from = String(after); from !== '';) {
        const args = [task, from, String(max - items.length), String(READ_WINDOW)]
        const [found, next] = await session.ask('readItems', args)
        for (const [seq, json] of pairsOf(found)) items.push({ seq: Number(seq), json })
        from = items.length >= max ? '' : String(next)
      }
      return items
    },
    revision: async (task) => {
      const [fields] = await session.ask('stats', [task])
      return Number(new Map(pairsOf(fields)).get('revision') ?? 0)
    },
  }
}

export interface StateParts {
  readonly session: Session
  /** Any command of the server, by its name and arguments. */
  readonly command: (name: string, args: readonly string[]) => Promise<unknown>
  readonly prefix: string
}

/** Values are kept as JSON: half a surrogate pair could not be carried otherwise. */
export function createState({ session, command, prefix }: StateParts): StateStore {
  return {
    get: async (key) => {
      const value = await command('HGET', [`${prefix}state`, key])
      return typeof value === 'string' ? (JSON.parse(value) as string) : undefined
    },
    set: async (entries) => {
      const changes = Object.entries(entries)
      const values = changes.flatMap(([key, value]) => [key, value === undefined ? '-' : `=${JSON.stringify(value)}`])
      await session.write('state', 'setState', [String(changes.length), ...values])
    },
    keys: async (prefixOfKeys) => {
      const range = prefixOfKeys === '' ? ['-', '+'] : [`[${prefixOfKeys}`, '+']
      const keys: string[] = []
      for (let from = range[0] ?? '-'; ;) {
        const found = (await command('ZRANGEBYLEX', [`${prefix}names`, from, '+', 'LIMIT', '0', '1000'])) as string[]
        const own = found.filter((key) => key.startsWith(prefixOfKeys))
        keys.push(...own)
        const last = found.at(-1)
        if (last === undefined || own.length < found.length || found.length < 1000) return keys.toSorted()
        from = `(${last}`
      }
    },
  }
}
