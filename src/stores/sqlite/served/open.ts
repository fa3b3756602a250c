/** Opens an embedded store in a thread of its own. */

import { Worker } from 'node:worker_threads'
import { systemClock } from '../../../core/clock.ts'
import type { Store } from '../../contract.ts'
import { connectStore } from './client.ts'
import type { ThreadData } from './thread.ts'
import { portOf } from './thread-port.ts'
import { type Answer, unpackFault } from './wire.ts'

/** What the thread makes dies with each message: a larger nursery would only be more memory. */
const YOUNG_MB = 6
/** A thread that was told that its store is closed has this long to end by itself. */
const END_WITHIN_MS = 2000

/**
 * Rejects as `openSqliteStore` does. The thread has its own connection and its own page cache, and keeps the process
 * alive only while something is asked of it.
 */
export async function openStoreInThread(data: ThreadData): Promise<Store> {
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB }
  const worker = new Worker(new URL('thread.js', import.meta.url), { workerData: data, resourceLimits })
  const gone = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      resolve()
    })
  })
  await opened(worker)
  const store = await connectStore(portOf(worker))
  const close = async (): Promise<void> => {
    await store.close()
    const stop = new AbortController()
    await Promise.race([gone, systemClock.sleep(END_WITHIN_MS, stop.signal)])
    stop.abort()
    await worker.terminate()
  }
  let closing: Promise<void> | undefined
  const closeOnce = (): Promise<void> => (closing ??= close())
  return { ...store, close: closeOnce, [Symbol.asyncDispose]: closeOnce }
}

/** The first message says whether the store could be opened. */
function opened(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', ([[, , fault]]: readonly [Answer]) => {
      worker.off('error', reject)
      if (fault === undefined) resolve()
      else {
        void worker.terminate()
        reject(unpackFault(fault))
      }
    })
  })
}
