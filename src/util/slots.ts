/** A bag for what comes and goes all the time. */

/**
 * Unlike a Map or a Set, whose outgrown tables stay linked to the newer ones: what such a table held when it was given
 * up then lives until the next full collection, once the oldest of them is old.
 */
export interface Slots<T> {
  /** Where it is kept until `remove`. */
  add(value: T): number
  remove(slot: number): void
  values(): T[]
  readonly size: number
}

/** T must not include undefined. */
export function createSlots<T>(): Slots<T> {
  const slots: (T | undefined)[] = []
  const free: number[] = []
  return {
    add: (value) => {
      const slot = free.pop() ?? slots.length
      slots[slot] = value
      return slot
    },
    remove: (slot) => {
      if (slots[slot] === undefined) return
      slots[slot] = undefined
      free.push(slot)
    },
    values: () => slots.filter((value) => value !== undefined),
    get size() {
      return slots.length - free.length
    },
  }
}
