import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHeap } from '../../../src/util/heap.ts'

it('gives back what was put in, smallest first, however pushes and pops are mixed', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer(), { nil: undefined })), (steps) => {
      const heap = createHeap<number>((a, b) => a < b)
      const model: number[] = []
      for (const step of steps) {
        if (step === undefined) {
          expect(heap.peek()).toBe(model[0])
          expect(heap.pop()).toBe(model.shift())
        } else {
          heap.push(step)
          model.push(step)
          model.sort((a, b) => a - b)
        }
        expect(heap.size).toBe(model.length)
      }
      expect(Array.from({ length: heap.size }, () => heap.pop())).toEqual(model)
    }),
  )
})
