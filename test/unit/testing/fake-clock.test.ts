/** The fake clock fires what is due, in order, and only when it is moved. */

import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'

describe('a fake clock', () => {
  it('fires timers in the order of their instants, first come first among equals', async () => {
    const clock = createFakeClock()
    const fired: string[] = []
    clock.timer(20, () => fired.push('late'))
    clock.timer(10, () => fired.push('first'))
    clock.timer(10, () => fired.push('second'))
    await clock.advance(9)
    expect(fired).toEqual([])
    await clock.advance(1)
    expect(fired).toEqual(['first', 'second'])
    await clock.advance(100)
    expect(fired).toEqual(['first', 'second', 'late'])
  })

  it('fires timers that a timer sets within the same advance, each at its own instant', async () => {
    const clock = createFakeClock()
    const at: number[] = []
    const loop = async (): Promise<void> => {
      for (let i = 0; i < 3; i += 1) {
        await clock.sleep(10)
        at.push(clock.monotonicMs())
      }
    }
    const done = loop()
    await clock.advance(30)
    await done
    expect(at).toEqual([10, 20, 30])
  })

  it('ends a sleep at once when its signal aborts, and leaves no timer', async () => {
    const clock = createFakeClock()
    const controller = new AbortController()
    const sleep = clock.sleep(1000, controller.signal)
    expect(clock.waiting).toBe(1)
    controller.abort()
    await sleep
    expect(clock.waiting).toBe(0)
    await clock.sleep(1000, controller.signal)
    expect(clock.monotonicMs()).toBe(0)
  })

  it('cancels a timer', async () => {
    const clock = createFakeClock()
    let fired = false
    const cancel = clock.timer(5, () => {
      fired = true
    })
    cancel()
    await clock.advance(10)
    expect(fired).toBe(false)
  })

  it('moves the wall clock alone', async () => {
    const clock = createFakeClock({ nowMs: 1_000_000 })
    clock.jumpWall(-3_600_000)
    expect(clock.nowMs()).toBe(1_000_000 - 3_600_000)
    expect(clock.monotonicMs()).toBe(0)
    await clock.advance(5)
    expect(clock.nowMs()).toBe(1_000_005 - 3_600_000)
  })

  it('moves to the next timer and says when there is none', async () => {
    const clock = createFakeClock()
    clock.timer(7, () => undefined)
    expect(await clock.advanceToNext()).toBe(true)
    expect(clock.monotonicMs()).toBe(7)
    expect(await clock.advanceToNext()).toBe(false)
  })
})
