/** A map bounded by weight: what was used longest ago goes first. */

export interface WeightedLru<V> {
  readonly size: number
  get(key: string): V | undefined
  /** A value heavier than the whole map is not kept. */
  set(key: string, value: V, weight: number): void
  delete(key: string): void
  /** Longest unused first. */
  entries(): Iterable<readonly [key: string, value: V]>
}

export function createWeightedLru<V>(maxWeight: number): WeightedLru<V> {
  // A Map keeps the order of insertion: oldest first.
  const entries = new Map<string, { readonly value: V; readonly weight: number }>()
  let total = 0

  function remove(key: string): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    total -= entry.weight
    entries.delete(key)
  }

  return {
    get size() {
      return entries.size
    },
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, weight) {
      remove(key)
      if (weight > maxWeight) return
      entries.set(key, { value, weight })
      total += weight
      for (const oldest of entries.keys()) {
        if (total <= maxWeight) break
        remove(oldest)
      }
    },
    delete: remove,
    *entries() {
      for (const [key, { value }] of entries) yield [key, value] as const
    },
  }
}
