import { describe, expect, it } from 'vitest'
import { createSlots } from '../../../src/util/slots.ts'

describe('slots', () => {
  it('keep what was added until it is removed, and use places again', () => {
    const slots = createSlots<string>()
    const [a, b] = [slots.add('a'), slots.add('b')]
    slots.remove(a)
    slots.remove(a)
    expect([slots.values(), slots.size]).toEqual([['b'], 1])
    expect(slots.add('c')).toBe(a)
    expect(slots.values().toSorted()).toEqual(['b', 'c'])
    slots.remove(b)
    expect(slots.size).toBe(1)
  })
})
