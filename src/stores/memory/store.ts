/** A store that lives and dies with the process. */

import type { Clock } from '../../core/clock.ts'
import type { StateStore } from '../../core/state-store.ts'
import type { ItemStore } from '../../items/contract.ts'
import type { Random } from '../../util/random.ts'
import type { Store } from '../contract.ts'
import { createMemoryFrontier } from './frontier.ts'
import { createLinks } from './links.ts'
import { createModel, endLease, taskOf } from './model.ts'
import type { Model } from './model.ts'
import { putBack } from './settle.ts'
import { verifyModel } from './verify.ts'

export function openMemoryStore({ clock, random }: { readonly clock: Clock; readonly random: Random }): Store {
  const model = createModel(clock, random)
  const close = async (): Promise<void> => {
    for (const row of model.leased.values()) {
      endLease(model, row, { kind: 'troubled' })
      putBack(model, row, 0)
    }
    model.bell.ring()
  }
  return {
    location: 'memory',
    owner: undefined,
    frontier: createMemoryFrontier(model),
    items: createItems(model),
    state: createState(model),
    links: createLinks(model),
    tasks: async () => [...model.tasks.keys()].toSorted(),
    verify: async () => verifyModel(model),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function createItems(model: Model): ItemStore {
  return {
    read: async (name, after, max) => {
      const { items } = taskOf(model, name)
      let from = 0
      for (let to = items.length; from < to;) {
        const middle = (from + to) >> 1
        if ((items[middle]?.seq ?? Infinity) > after) to = middle
        else from = middle + 1
      }
      return items.slice(from, from + max).map(({ seq, json }) => ({ seq, json }))
    },
    revision: async (name) => taskOf(model, name).revision,
  }
}

function createState({ state }: Model): StateStore {
  return {
    get: async (key) => state.get(key),
    set: async (entries) => {
      for (const [key, value] of Object.entries(entries)) {
        if (value === undefined) state.delete(key)
        else state.set(key, value)
      }
    },
    keys: async (prefix) => [...state.keys()].filter((key) => key.startsWith(prefix)).toSorted(),
  }
}
