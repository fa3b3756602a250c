/** The store's clock: it never goes back, all processes of the machine share it, and it goes on after a reboot. */

import { readFileSync } from 'node:fs'
import type { Clock } from '../../core/clock.ts'
import type { Connection } from './connection.ts'

export interface StoreClock {
  nowMs(): number
  /** Notes in the file how late it is, if that was not done for a while. To be called inside a transaction. */
  note(): void
}

/** How far the clock may be set back by a power cut: what is noted is at most this old. */
const NOTE_EVERY_MS = 1000
/** A wall clock that says that more than this passed while the machine was off is not believed. */
const MAX_GAP_MS = 366 * 24 * 3600 * 1000

interface Anchor {
  readonly boot: string
  /** Store time = monotonic time of this boot + offset. */
  readonly offsetMs: number
  readonly lastMonotonicMs: number
  readonly lastWallMs: number
}

/** To be called inside a transaction: the first process after a boot anchors the clock for all. */
export function openStoreClock(
  sql: Connection,
  clock: Clock,
  { readOnly }: { readonly readOnly: boolean },
): StoreClock {
  const boot = bootIdentity()
  const noted = sql.one<{ value: string }>("SELECT value FROM meta WHERE key = 'clock'")
  const before = noted === undefined ? undefined : (JSON.parse(noted.value) as Anchor)
  const offsetMs = before === undefined ? 0 : offsetNow(before, boot, clock)
  let notedMs = -Infinity
  const note = (): void => {
    const lastMonotonicMs = clock.monotonicMs()
    if (readOnly || lastMonotonicMs - notedMs < NOTE_EVERY_MS) return
    notedMs = lastMonotonicMs
    const anchor: Anchor = { boot, offsetMs, lastMonotonicMs, lastWallMs: clock.nowMs() }
    sql.run("INSERT OR REPLACE INTO meta VALUES ('clock', ?)", JSON.stringify(anchor))
  }
  note()
  return { nowMs: () => clock.monotonicMs() + offsetMs, note }
}

/** The same as before within one boot; after another, store time goes on where the wall clock says, never back. */
function offsetNow(before: Anchor, boot: string, clock: Clock): number {
  const monotonicMs = clock.monotonicMs()
  if (before.boot === boot && monotonicMs >= before.lastMonotonicMs - NOTE_EVERY_MS) return before.offsetMs
  const passedMs = Math.min(Math.max(clock.nowMs() - before.lastWallMs, 0), MAX_GAP_MS)
  return before.lastMonotonicMs + before.offsetMs + passedMs - monotonicMs
}

/** Elsewhere than on Linux a boot is told by the monotonic clock alone, which begins anew with it. */
function bootIdentity(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
