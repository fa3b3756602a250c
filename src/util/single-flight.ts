/** One piece of work for any number of callers that ask for the same at the same time. */

export interface SingleFlight<T> {
  /**
   * Joins the work under `key`, or starts it. When the caller's signal aborts, that caller alone is rejected with the
   * signal's reason; when all have left, the work's own signal aborts.
   */
  run(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T>
}

interface Flight<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  waiting: number
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>()

  function start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController()
    const flight: Flight<T> = {
      controller,
      waiting: 0,
      result: work(controller.signal).finally(() => {
        if (flights.get(key) === flight) flights.delete(key)
      }),
    }
    // Those who wait see how it ends; when nobody does, nobody needs to.
    flight.result.catch(() => undefined)
    flights.set(key, flight)
    return flight
  }

  return {
    async run(key, work, signal) {
      signal?.throwIfAborted()
      const flight = flights.get(key) ?? start(key, work)
      flight.waiting++
      try {
        return await unlessAborted(flight.result, signal)
      } finally {
        flight.waiting--
        if (flight.waiting === 0 && flights.get(key) === flight) {
          flights.delete(key)
          flight.controller.abort()
        }
      }
    },
  }
}

/** Settles as the promise does, or rejects with the signal's reason; leaves no listener behind. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason is the caller's own
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    promise
      .finally(() => {
        signal.removeEventListener('abort', leave)
      })
      .then(resolve, reject)
  })
}
