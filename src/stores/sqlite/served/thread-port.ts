/** The two ends of a thread as the ports of a store. */

import type { MessagePort, Worker } from 'node:worker_threads'
import type { StorePort } from '../../contract.ts'

export function portOf(end: MessagePort | Worker): StorePort {
  return {
    post: (message) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      end.postMessage(message)
    },
    onMessage: (fn) => {
      end.on('message', fn)
    },
    onClose: (fn) => {
      end.on('exit' in end ? 'exit' : 'close', fn)
    },
    keepAlive: (needed) => {
      if (needed) end.ref()
      else end.unref()
    },
  }
}
