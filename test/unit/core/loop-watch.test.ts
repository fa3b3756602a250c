/** The time in which the event loop stood still, on a clock that the test moves by hand. */

import { expect, it } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { LoopWatch } from '../../../src/core/loop-watch.ts'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'

/** Its `block` is what a handler does that never gives way: time goes by and no timer fires. */
function createBlockedClock() {
  const fake = createFakeClock()
  let blockedMs = 0
  const monotonicMs = (): number => fake.monotonicMs() + blockedMs
  const clock: Clock = { ...fake, monotonicMs }
  return {
    clock,
    advance: fake.advance,
    waiting: () => fake.waiting,
    block: (ms: number) => {
      blockedMs += ms
    },
  }
}

it('counts what is longer than a breath, less one beat, and nothing while the loop runs', async () => {
  const { clock, advance, block } = createBlockedClock()
  const loop = new LoopWatch(clock)
  loop.begin()
  await advance(10_000)
  block(100)
  expect(loop.stillMs()).toBe(0)
  await advance(100)
  block(3000)
  expect(loop.stillMs()).toBe(2900)
  expect(loop.stillMs()).toBe(2900)
  loop.end()
})

it('has no timer before it is asked, nor after', async () => {
  const { clock, advance, block, waiting } = createBlockedClock()
  const loop = new LoopWatch(clock)
  block(5000)
  loop.begin()
  loop.begin()
  expect(loop.stillMs()).toBe(0)
  await advance(1000)
  expect(waiting()).toBe(1)
  loop.end()
  loop.end()
  expect(waiting()).toBe(0)
  block(5000)
  loop.begin()
  expect(loop.stillMs()).toBe(0)
  loop.end()
})

it('moves a deadline on by what was lost, and lets it come', async () => {
  const { clock, advance, block, waiting } = createBlockedClock()
  const loop = new LoopWatch(clock)
  let isOver = false
  loop.deadline(1000, () => {
    isOver = true
  })
  await advance(900)
  block(3000)
  await advance(100)
  expect(isOver).toBe(false)
  await advance(3000)
  expect(isOver).toBe(true)
  expect(waiting()).toBe(0)
})

it('forgets a deadline that is cancelled', () => {
  const { clock, waiting } = createBlockedClock()
  const cancel = new LoopWatch(clock).deadline(1000, () => undefined)
  cancel()
  cancel()
  expect(waiting()).toBe(0)
})
