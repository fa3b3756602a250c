/** A binary heap: the smallest of many, in logarithmic time. */

export interface Heap<T> {
  readonly size: number
  push(value: T): void
  peek(): T | undefined
  pop(): T | undefined
}

/** `before(a, b)`: a comes out before b. Must be a strict order; equal values come out in any order. */
export function createHeap<T>(before: (a: T, b: T) => boolean): Heap<T> {
  const values: T[] = []

  function siftUp(value: T): void {
    let at = values.length
    values.push(value)
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = values[up] as T
      if (!before(value, parent)) break
      values[at] = parent
      at = up
    }
    values[at] = value
  }

  function siftDown(value: T): void {
    const { length } = values
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= length) break
      if (child + 1 < length && before(values[child + 1] as T, values[child] as T)) child++
      if (!before(values[child] as T, value)) break
      values[at] = values[child] as T
      at = child
    }
    values[at] = value
  }

  return {
    get size() {
      return values.length
    },
    push: siftUp,
    peek: () => values[0],
    pop() {
      const top = values[0]
      const last = values.pop()
      if (values.length > 0) siftDown(last as T)
      return top
    },
  }
}
