/** The trap guard of a task: its budgets are kept in the store, so that a restart does not begin them anew. */

import { createHash } from 'node:crypto'
import type { ResolvedOptions } from '../config/options.ts'
import type { Clock } from '../core/clock.ts'
import type { StateStore } from '../core/state-store.ts'
import { createTrapGuard, type TrapState } from '../url/traps.ts'
import { trapKeyOf } from './task-keys.ts'

export interface TrapWatch {
  /** Names the rule that a URL falls under. */
  trapOf(url: string, depth: number): string | undefined
  /** Names the rule when a page with this content has come too often: its links are not to be followed. */
  contentTrapOf(url: string, body: Uint8Array): string | undefined
  /** Keeps the budgets when something has been added to them and the last time was long enough ago. */
  saveSoon(): Promise<void> | undefined
  /** Keeps them now. */
  save(): Promise<void>
}

/** Budgets are hundreds of requests wide: losing the last seconds of them costs little, saving each step costs much. */
const SAVE_EVERY_MS = 15_000

export async function openTrapWatch(
  options: ResolvedOptions,
  { state, clock }: { readonly state: StateStore; readonly clock: Clock },
): Promise<TrapWatch | undefined> {
  if (!options.traps) return undefined
  const key = trapKeyOf(options.task)
  const saved = await state.get(key)
  const guard = createTrapGuard({
    nowMs: clock.nowMs(),
    limits: options,
    state: saved === undefined ? undefined : (JSON.parse(saved) as TrapState),
  })
  const looks = createLooks()
  let changed = false
  let savedAtMs = clock.monotonicMs()
  const save = async (): Promise<void> => {
    if (!changed) return
    changed = false
    savedAtMs = clock.monotonicMs()
    await state.set({ [key]: JSON.stringify(guard.toJSON()) })
  }
  return {
    trapOf(url, depth) {
      changed = true
      return guard.decide(url, depth)?.rule
    },
    contentTrapOf(url, body) {
      if (!looks.hasCome(body)) return undefined
      changed = true
      return guard.notePage(url, digestOf(body))?.rule
    },
    saveSoon: () => (changed && clock.monotonicMs() - savedAtMs > SAVE_EVERY_MS ? save() : undefined),
    save,
  }
}

/** Pages that are equal so far, and as long, are equal. */
const DIGESTED_BYTES = 4 * 1024 * 1024

function digestOf(body: Uint8Array): string {
  const hash = createHash('sha1').update(body.subarray(0, DIGESTED_BYTES))
  return `${hash.digest('base64')} ${body.length}`
}

/** A body that looks like one seen so often is worth a digest; the first ones are not. */
const SEEN_OFTEN = 8
const MAX_LOOKS = 20_000
const SAMPLES = 64

/** Tells bodies that may be equal by their length and a few of their bytes, so that most pages need no digest. */
function createLooks(): { hasCome(body: Uint8Array): boolean } {
  const counts = new Map<number, number>()
  return {
    hasCome(body) {
      let look = body.length | 0
      const step = Math.max(1, Math.floor(body.length / SAMPLES))
      for (let at = 0; at < body.length; at += step) look = Math.imul(look ^ (body[at] ?? 0), 16_777_619)
      const times = (counts.get(look) ?? 0) + 1
      if (counts.size >= MAX_LOOKS) counts.clear()
      counts.set(look, times)
      return times > SEEN_OFTEN
    },
  }
}
