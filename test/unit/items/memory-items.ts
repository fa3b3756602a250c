/** An item store and a state store in memory, for the tests of exports. */

import type { JsonObject } from '../../../src/core/json.ts'
import type { StateStore } from '../../../src/core/state-store.ts'
import type { ItemStore, StoredItem } from '../../../src/items/contract.ts'

export interface MemoryItems extends ItemStore {
  push(...items: readonly JsonObject[]): void
  change(seq: number, item: JsonObject): void
  clear(): void
  all(): readonly JsonObject[]
}

export function createMemoryItems(): MemoryItems {
  let stored: StoredItem[] = []
  let revision = 0
  let seq = 0
  return {
    push: (...items) => {
      // gaps are allowed
      for (const item of items) stored.push({ seq: (seq += 1 + (seq % 2)), json: JSON.stringify(item) })
    },
    change: (at, item) => {
      stored = stored.map((old) => (old.seq === at ? { seq: at, json: JSON.stringify(item) } : old))
      revision += 1
    },
    clear: () => {
      stored = []
      seq = 0
    },
    all: () => stored.map(({ json }) => JSON.parse(json) as JsonObject),
    read: async (_task, after, max) => stored.filter((item) => item.seq > after).slice(0, max),
    revision: async () => revision,
  }
}

export function createMemoryState(): StateStore & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>()
  return {
    entries,
    get: async (key) => entries.get(key),
    set: async (values) => {
      for (const [key, value] of Object.entries(values)) {
        if (value === undefined) entries.delete(key)
        else entries.set(key, value)
      }
    },
    keys: async (prefix) => [...entries.keys()].filter((key) => key.startsWith(prefix)).toSorted(),
  }
}
