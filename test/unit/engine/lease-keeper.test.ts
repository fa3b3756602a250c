import { describe, expect, it } from 'vitest'
import { keepLeases } from '../../../src/engine/lease-keeper.ts'
import type { LeaseKeeper } from '../../../src/engine/lease-keeper.ts'
import type { Lease } from '../../../src/frontier/contract.ts'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'
import type { FakeClock } from '../../../src/testing/fake-clock.ts'

const LEASE_MS = 60_000
const held = [{ id: '1' }] as unknown as readonly Lease[]

interface Store {
  answer: 'at once' | 'never' | 'refused'
  renewals: number
}

function keeper(active: () => readonly Lease[] = () => held): {
  readonly clock: FakeClock
  readonly store: Store
  readonly keeper: LeaseKeeper
  readonly abort: AbortController
} {
  const clock = createFakeClock()
  const store: Store = { answer: 'at once', renewals: 0 }
  const abort = new AbortController()
  const renew = async (leases: readonly Lease[]): Promise<readonly boolean[]> => {
    store.renewals++
    if (store.answer === 'never') return new Promise(() => undefined)
    if (store.answer === 'refused') throw new Error('no store')
    return leases.map(() => true)
  }
  const options = { frontier: { renew }, clock, leaseMs: LEASE_MS, active, signal: abort.signal }
  return { clock, store, keeper: keepLeases(options), abort }
}

describe('keepLeases', () => {
  it('holds for as long as renewals are answered', async () => {
    const { clock, store, keeper: kept } = keeper()
    const hold = kept.take(clock.monotonicMs())
    for (let n = 0; n < 20; n++) await clock.advance(LEASE_MS / 3)
    expect(store.renewals).toBe(20)
    expect(hold.isHeld()).toBe(true)
    expect(hold.signal.aborted).toBe(false)
  })

  it.each(['never', 'refused'] as const)('ends before the leases do, when renewals are answered %s', async (answer) => {
    const { clock, store, keeper: kept } = keeper()
    const hold = kept.take(clock.monotonicMs())
    store.answer = answer
    await clock.advance(LEASE_MS * 0.89)
    expect(hold.signal.aborted).toBe(false)
    await clock.advance(LEASE_MS * 0.02)
    expect(hold.signal.aborted).toBe(true)
    expect(hold.isHeld()).toBe(false)
  })

  it('lets any number of requests listen for its end, without a warning', async () => {
    const { clock, keeper: kept } = keeper()
    const warnings: Error[] = []
    const onWarning = (warning: Error): unknown => warnings.push(warning)
    process.on('warning', onWarning)
    const { signal } = kept.take(clock.monotonicMs())
    for (let n = 0; n < 20; n++) signal.addEventListener('abort', () => undefined)
    await new Promise(setImmediate) // a warning is told in the next tick
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it('gives a new hold to what is leased after that', async () => {
    const { clock, store, keeper: kept } = keeper()
    const old = kept.take(clock.monotonicMs())
    store.answer = 'refused'
    await clock.advance(LEASE_MS)
    store.answer = 'at once'
    const hold = kept.take(clock.monotonicMs())
    for (let n = 0; n < 6; n++) await clock.advance(LEASE_MS / 3)
    expect(old.isHeld()).toBe(false)
    expect(hold.isHeld()).toBe(true)
  })

  it('does not hold what came so late that it may have run out', async () => {
    const active: Lease[] = []
    const { clock, keeper: kept } = keeper(() => active)
    const askedAtMs = clock.monotonicMs()
    await clock.advance(LEASE_MS)
    expect(kept.take(askedAtMs).isHeld()).toBe(false)
  })

  it('renews at once what came late', async () => {
    const active: Lease[] = []
    const { clock, store, keeper: kept } = keeper(() => active)
    const askedAtMs = clock.monotonicMs()
    await clock.advance(LEASE_MS / 2)
    const hold = kept.take(askedAtMs)
    active.push(...held)
    await clock.advance(0)
    expect(store.renewals).toBe(1)
    await clock.advance(LEASE_MS * 0.5)
    expect(hold.isHeld()).toBe(true)
  })

  it('counts what was leased while a renewal was under way from when it was asked for', async () => {
    const answers: ((renewed: readonly boolean[]) => void)[] = []
    const clock = createFakeClock()
    const signal = new AbortController().signal
    const renew = (): Promise<readonly boolean[]> =>
      new Promise((resolve) => {
        answers.push(resolve)
      })
    const kept = keepLeases({ frontier: { renew }, clock, leaseMs: LEASE_MS, active: () => held, signal })
    kept.take(clock.monotonicMs())
    await clock.advance(LEASE_MS / 3 - 1000)
    const askedAtMs = clock.monotonicMs()
    await clock.advance(1000)
    const hold = kept.take(askedAtMs)
    answers[0]?.([true])
    await clock.advance(LEASE_MS * 0.9 - 1001)
    expect(hold.isHeld()).toBe(true)
    await clock.advance(2)
    expect(hold.isHeld()).toBe(false)
  })

  it('ends at once for a process that hears of its timers too late', async () => {
    const { clock, keeper: kept } = keeper()
    const hold = kept.take(clock.monotonicMs())
    const before = clock.monotonicMs()
    // stopped and continued: no timer has run yet
    clock.monotonicMs = () => before + LEASE_MS
    expect(hold.isHeld()).toBe(false)
  })

  it('ends with the crawl, and leaves no timer behind', async () => {
    const { clock, store, keeper: kept, abort } = keeper()
    const hold = kept.take(clock.monotonicMs())
    abort.abort()
    expect(hold.isHeld()).toBe(false)
    kept.stop()
    await clock.advance(10 * LEASE_MS)
    expect(store.renewals).toBe(0)
  })
})
