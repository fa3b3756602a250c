import { describe, expect, it } from 'vitest'
import { createBodyBudget } from '../../../src/engine/body-budget.ts'

describe('the budget of bodies in flight', () => {
  it('is used up when those in flight weigh as much, and not before', () => {
    const budget = createBodyBudget(100)
    const [one, other] = [budget.hold(), budget.hold()]
    one.add(60)
    expect(budget.isUsedUp).toBe(false)
    other.add(40)
    expect(budget.isUsedUp).toBe(true)
    one.release()
    expect(budget.isUsedUp).toBe(false)
  })

  it('takes each body back once', () => {
    const budget = createBodyBudget(100)
    const [one, other] = [budget.hold(), budget.hold()]
    other.add(100)
    one.add(10)
    one.release()
    one.release()
    expect(budget.isUsedUp).toBe(true)
  })

  it('lets a body that is larger than all of it go alone', () => {
    const budget = createBodyBudget(100)
    const huge = budget.hold()
    huge.add(5000)
    expect(budget.isUsedUp).toBe(true)
    huge.release()
    expect(budget.isUsedUp).toBe(false)
  })
})
