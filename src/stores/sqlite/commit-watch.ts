/** Notices that another process has committed, while somebody here waits for work. */

import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import type { Clock } from '../../core/clock.ts'
import type { Bell } from '../../frontier/wait-for-work.ts'

/** Most waits are shorter: a watch that is opened for each of them would cost more than it saves. */
const PATIENCE_MS = 20

/** The bell, which now also rings when the write-ahead log changes. `close` lets go of the watch. */
export function watchCommits(bell: Bell, clock: Clock, walPath: string): Bell & { close(): void } {
  let watcher: FSWatcher | undefined
  let cancel: (() => void) | undefined

  const stop = (): void => {
    cancel?.()
    cancel = undefined
    watcher?.close()
    watcher = undefined
  }

  const start = (): void => {
    cancel = undefined
    if (bell.waiting === 0 || watcher !== undefined) return
    try {
      watcher = watch(walPath, { persistent: false }, () => {
        bell.ring()
      })
      watcher.on('error', stop)
    } catch {
      // no such file yet, or no watches left on this system: the bell's longest wait is the fallback
    }
  }

  return {
    get waiting() {
      return bell.waiting
    },
    ring: () => {
      bell.ring()
    },
    next: async (withinMs, signal) => {
      if (watcher === undefined) cancel ??= clock.timer(PATIENCE_MS, start, true)
      await bell.next(withinMs, signal)
      if (bell.waiting === 0) stop()
    },
    close: stop,
  }
}
