import { expect, it } from 'vitest'
import { isFinished, leaseBudget } from '../../../src/frontier/budget.ts'
import { comesBefore, placeOf } from '../../../src/frontier/order.ts'

function place(depth: number, priority: number, id: number): ReturnType<typeof placeOf> {
  return placeOf({ depth, priority, id }, 'dfs')
}

it('leases so many that done and leased together reach the page limit, and no more', () => {
  expect(leaseBudget({ pending: 9, leased: 2, done: 3 }, 10)).toBe(5)
  expect(leaseBudget({ pending: 9, leased: 2, done: 3 }, 5)).toBe(0)
  expect(leaseBudget({ pending: 9, leased: 2, done: 3 }, 2)).toBe(0)
  expect(leaseBudget({ pending: 9, leased: 2, done: 3 }, undefined)).toBe(Infinity)
})

it('is finished when nothing is left, or when the limit is reached and nothing is under way', () => {
  expect(isFinished({ pending: 0, leased: 0, done: 3 }, undefined)).toBe(true)
  expect(isFinished({ pending: 1, leased: 0, done: 3 }, undefined)).toBe(false)
  expect(isFinished({ pending: 0, leased: 1, done: 3 }, 3)).toBe(false)
  expect(isFinished({ pending: 1, leased: 0, done: 3 }, 3)).toBe(true)
})

it('puts the deepest first when depth-first, and never before a higher priority', () => {
  expect(comesBefore(place(3, 0, 2), place(1, 0, 1))).toBe(true)
  expect(comesBefore(place(3, 0, 1), place(1, 1, 2))).toBe(false)
  expect(comesBefore(place(2, 0, 1), place(2, 0, 2))).toBe(true)
  expect(Object.is(placeOf({ depth: 0, priority: 0, id: 1 }, 'dfs').level, 0)).toBe(true)
})
