/** How many more requests of a host one call of `lease` may give than politeness lets go out. */

export interface Allowance {
  hasLeft(hostKey: string): boolean
  /** False: used up. */
  take(hostKey: string): boolean
}

export function createAllowance(unpaced: ReadonlyMap<string, number> | undefined): Allowance {
  const left = new Map(unpaced)
  return {
    hasLeft: (hostKey) => (left.get(hostKey) ?? 0) > 0,
    take: (hostKey) => {
      const count = left.get(hostKey) ?? 0
      if (count > 0) left.set(hostKey, count - 1)
      return count > 0
    },
  }
}
