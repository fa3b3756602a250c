/** Budgets of suspicious URLs: so many different ones may pass for each suspicion, and these may pass again. */

import { hash52 } from '../util/compact-set.ts'
import { createWeightedLru } from '../util/weighted-lru.ts'

export type BudgetsState = readonly (readonly [key: string, members: readonly number[]])[]

export interface Budgets {
  /** True for a member that was admitted before, and for a new one while the budget of the key lasts. */
  admit(key: string, member: string, max: number): boolean
  state(): BudgetsState
}

/** What a key weighs beside its members. */
const KEY_WEIGHT = 16

/** `maxWeight` bounds members plus 16 a key; the keys that were asked for longest ago are forgotten first. */
export function createBudgets(maxWeight: number, state: BudgetsState = []): Budgets {
  const budgets = createWeightedLru<Set<number>>(maxWeight)
  for (const [key, members] of state) budgets.set(key, new Set(members), members.length + KEY_WEIGHT)

  return {
    admit(key, member, max) {
      const members = budgets.get(key) ?? new Set()
      const hash = hash52(member) % 2 ** 32
      if (members.has(hash)) return true
      if (members.size >= max) return false
      members.add(hash)
      budgets.set(key, members, members.size + KEY_WEIGHT)
      return true
    },
    state: () => [...budgets.entries()].map(([key, members]) => [key, [...members]] as const),
  }
}
