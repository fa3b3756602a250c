/** Waiting that ends with a signal: what was waited for may go on, unheard. */

/** Settles as the promise does, or rejects with the signal's reason; leaves no listener behind. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined) // it may fail after nobody waits any more
  signal.throwIfAborted()
  let leave: (() => void) | undefined
  const over = new Promise<never>((_resolve, reject) => {
    leave = () => {
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', leave, { once: true })
  })
  try {
    return await Promise.race([work, over])
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave)
  }
}
