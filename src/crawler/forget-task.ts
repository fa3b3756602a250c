/** Forgets a crawl: its requests, items, failures, exports, scope, cookies and trap budgets. The download cache stays. */

import { cookieKeysOf } from '../fetch/cookies.ts'
import { forgetExports } from '../items/export-record.ts'
import type { Store } from '../stores/contract.ts'
import { openStoreForWriting } from './compose.ts'
import type { StoreLocation } from './contract.ts'
import { identityKeyOf, scopeKeyOf, trapKeyOf } from './task-keys.ts'

export async function forgetTask({ frontier, state }: Store, task: string): Promise<void> {
  await frontier.clear(task)
  await forgetExports(state, task)
  const cookies = await state.keys(cookieKeysOf(task))
  const keys = [identityKeyOf(task), scopeKeyOf(task), trapKeyOf(task), ...cookies]
  await state.set(Object.fromEntries(keys.map((key) => [key, undefined])))
}

/** Rejects with STORE_UNAVAILABLE when there is no store. */
export async function clearCrawl(location: StoreLocation): Promise<void> {
  const store = await openStoreForWriting(location)
  try {
    await forgetTask(store, location.task)
  } finally {
    await store.close()
  }
}
