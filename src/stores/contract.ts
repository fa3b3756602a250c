/** A store: one frontier, its items and small state, over one database. */

import type { StateStore } from '../core/state-store.ts'
import type { Frontier } from '../frontier/contract.ts'
import type { LinkStore } from '../graph/contract.ts'
import type { ItemStore } from '../items/contract.ts'

export interface Store extends AsyncDisposable {
  /** Where it is, for messages; without credentials. */
  readonly location: string
  /** Who this process is in `frontier.workers()`. Undefined: it only looks. */
  readonly owner: string | undefined
  readonly frontier: Frontier
  readonly items: ItemStore
  readonly state: StateStore
  /** Undefined: this kind of store keeps no links. */
  readonly links?: LinkStore
  /** Names of the tasks it holds. */
  tasks(): Promise<readonly string[]>
  /** Checks every invariant that can be read from the data. Each problem is a sentence; none: sound. */
  verify(): Promise<readonly string[]>
  /** Gives back what this process still holds and lets go of the database. Idempotent. */
  close(): Promise<void>
}

/** A way to another thread or process that carries structured clones, whole and in their order. */
export interface StorePort {
  post(message: unknown): void
  onMessage(fn: (message: unknown) => void): void
  /** Called once when the other end is gone. */
  onClose(fn: () => void): void
  /** Whether an open port alone keeps the process alive. */
  keepAlive(needed: boolean): void
}
