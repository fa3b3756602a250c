/** The last items of a task, found without reading those before. */

import type { ItemStore } from '../items/contract.ts'

/** Answers the newest first. Each call begins where the one before ended. */
export function createLatestItems(items: ItemStore, task: string): (max: number) => Promise<readonly string[]> {
  let known = 0
  const isBeyond = async (seq: number): Promise<boolean> => (await items.read(task, seq, 1)).length > 0
  return async (max) => {
    known = await lastSeq(known, isBeyond)
    const found = await items.read(task, Math.max(0, known - max), max)
    return found.map(({ json }) => json).toReversed()
  }
}

/** The largest number that is given: in steps that double, then by halves. 0: none. */
async function lastSeq(from: number, isBeyond: (seq: number) => Promise<boolean>): Promise<number> {
  if (!(await isBeyond(from))) {
    // cleared meanwhile, or nothing new
    return from > 0 && !(await isBeyond(from - 1)) ? lastSeq(0, isBeyond) : from
  }
  let low = from
  let step = 1
  // oxlint-disable no-await-in-loop -- each look depends on the one before
  while (await isBeyond(low + step)) {
    low += step
    step *= 2
  }
  let high = low + step
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (await isBeyond(middle)) low = middle
    else high = middle
  }
  // oxlint-enable no-await-in-loop
  return high
}
