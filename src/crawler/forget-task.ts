/** Forgets a crawl: its requests, items, failures, exports, scope, cookies and trap budgets. The download cache stays. */

import { CrawlError } from '../core/errors.ts'
import { cookieKeysOf } from '../fetch/cookies.ts'
import { forgetExports } from '../items/export-record.ts'
import type { Store } from '../stores/contract.ts'
import { openStoreForWriting } from './compose.ts'
import type { StoreLocation } from './contract.ts'
import { fileKeyOf, identityKeyOf, roundKeyOf, scopeKeyOf, trapKeyOf } from './task-keys.ts'

/** Throws CONFIG_INVALID while somebody crawls it: whoever does would find nothing left, and call that the end. */
export async function forgetTask(store: Store, task: string): Promise<void> {
  const { frontier, state } = store
  await refuseWhileCrawled(store, task)
  await frontier.clear(task)
  await forgetExports(state, task)
  const cookies = await state.keys(cookieKeysOf(task))
  const keys = [identityKeyOf(task), scopeKeyOf(task), roundKeyOf(task), fileKeyOf(task), trapKeyOf(task), ...cookies]
  await state.set(Object.fromEntries(keys.map((key) => [key, undefined])))
}

async function refuseWhileCrawled(store: Store, task: string): Promise<void> {
  if (!(await store.tasks()).includes(task)) return
  const { leased } = await store.frontier.stats(task)
  if (leased === 0) return
  const problem = `the crawl ${task} in ${store.location} cannot be forgotten: another process holds ${leased} of its requests; stop it first (what a dead machine held is free after a minute)`
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
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
