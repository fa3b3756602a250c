/** Work on the same thing is done one after the other, on different things side by side. */

export interface Turns {
  take<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Resolves when nothing is left to do. */
  idle(): Promise<void>
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  return {
    take: async (key, work) => {
      const before = last.get(key)
      const mine = (async () => {
        await before?.catch(() => undefined)
        return work()
      })()
      last.set(key, mine)
      try {
        return await mine
      } finally {
        if (last.get(key) === mine) last.delete(key)
      }
    },
    idle: async () => {
      while (last.size > 0) await Promise.allSettled(last.values())
    },
  }
}
