/** Small state of the MongoDB store. */

import type { StateStore } from '../../core/state-store.ts'
import { textKey, textOfKey } from './documents.ts'
import type { Ledger } from './ledger.ts'
import type { Server } from './server.ts'

export function createState(ledger: Ledger, server: Server): StateStore {
  return {
    get: (key) =>
      ledger.read((tx) => {
        const doc = tx.get('state', textKey(key))
        return doc === undefined ? undefined : (JSON.parse(doc.value) as string)
      }),
    set: (entries) =>
      ledger.write({
        prepare: (tx) => {
          tx.want('state', Object.keys(entries).map(textKey))
        },
        run: (tx) => {
          for (const [key, value] of Object.entries(entries)) {
            tx.put('state', textKey(key), value === undefined ? undefined : { value: JSON.stringify(value) })
          }
        },
      }),
    keys: async (prefix) => {
      await ledger.applyAll()
      const filter = { _id: { $gte: textKey(prefix) }, 'd.x': { $exists: false } }
      const ids = await server.ids('state', prefix === '' ? { 'd.x': { $exists: false } } : filter)
      return ids
        .map(textOfKey)
        .filter((key) => key.startsWith(prefix))
        .toSorted()
    },
  }
}
