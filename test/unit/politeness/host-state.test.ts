import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HostLimits, HostSignal, HostState } from '../../../src/politeness/contract.ts'
import {
  hostLimits,
  initialHostState,
  isHostDown,
  MAX_SILENT_FAILURES,
  START_SLACK_MS,
  startLate,
  mayStart,
  nextStartMs,
  reserve,
  settleHost,
} from '../../../src/politeness/host-state.ts'
import { seededRandom } from '../../../src/util/random.ts'

/** Of two starts with the delay of LIMITS. */
const GAP = 500 + START_SLACK_MS
const LIMITS: HostLimits = { delayMs: 500, maxInFlight: 2 }
const EAGER: HostLimits = { delayMs: 0, maxInFlight: 8 }
const random = seededRandom(1)
const T = 1_000_000

/** A host that has answered and is idle. */
const KNOWN: HostState = { ...initialHostState(), backoffStep: 0 }

function settle(
  state: HostState,
  signal: HostSignal,
  at: { leasedAtMs: number; nowMs: number; limits?: HostLimits },
): HostState {
  return settleHost(state, signal, { limits: LIMITS, random, ...at })
}

/** So many leased at one instant. */
function leased(count: number, limits = EAGER, state = KNOWN): HostState {
  return Array.from({ length: count }).reduce<HostState>((before) => reserve(before, limits, T), state)
}

function silence(state: HostState, nowMs: number): HostState {
  return settle(reserve(state, EAGER, nowMs), { kind: 'silent' }, { leasedAtMs: nowMs, nowMs: nowMs + 1 })
}

function down(): HostState {
  return Array.from({ length: MAX_SILENT_FAILURES }).reduce<HostState>((state, _, i) => silence(state, T + i), KNOWN)
}

describe('starting', () => {
  it('keeps the delay between two starts and the places in flight', () => {
    const one = reserve(KNOWN, LIMITS, T)
    expect(one).toMatchObject({ nextAtMs: T + GAP, inFlight: 1 })
    expect(mayStart(one, LIMITS, T + GAP - 1)).toBe(false)
    expect(mayStart(one, LIMITS, T + GAP)).toBe(true)
    const two = reserve(one, LIMITS, T + GAP)
    expect(mayStart(two, LIMITS, T + 9000)).toBe(false)
    expect(nextStartMs(two, LIMITS, T + 9000)).toBe(Infinity)
    expect(nextStartMs(one, LIMITS, T)).toBe(T + GAP)
  })

  it('asks a host that never answered one request at a time', () => {
    const first = reserve(initialHostState(), EAGER, T)
    expect(mayStart(first, EAGER, T + 1)).toBe(false)
    const answered = settle(
      first,
      { kind: 'answered', crawlDelayMs: 0 },
      { leasedAtMs: T, nowMs: T + 9, limits: EAGER },
    )
    expect(mayStart(reserve(answered, EAGER, T + 9), EAGER, T + 9)).toBe(true)
  })

  it('obeys a crawl delay from the moment it is learnt, one request at a time', () => {
    const first = reserve(initialHostState(), EAGER, T)
    const answered = settle(
      first,
      { kind: 'answered', crawlDelayMs: 2000 },
      { leasedAtMs: T, nowMs: T + 70, limits: EAGER },
    )
    expect(answered).toMatchObject({ crawlDelayMs: 2000, nextAtMs: T + 2070 + START_SLACK_MS })
    const next = reserve(answered, EAGER, T + 2070 + START_SLACK_MS)
    expect(mayStart(next, EAGER, T + 9999)).toBe(false)
    expect(settle(next, { kind: 'answered' }, { leasedAtMs: T + 2070, nowMs: T + 2100 }).crawlDelayMs).toBe(2000)
  })

  it('bounds a crawl delay at an hour', () => {
    const answered = settle(leased(1), { kind: 'answered', crawlDelayMs: 1e300 }, { leasedAtMs: T, nowMs: T })
    expect(answered.crawlDelayMs).toBe(3_600_000)
  })

  it('takes the delay of loopback hosts for those', () => {
    const settings = { delayMs: 500, loopbackDelayMs: 0, maxInFlightPerHost: 2 }
    expect(hostLimits(settings, 'localhost:80')).toEqual({ delayMs: 0, maxInFlight: 2 })
    expect(hostLimits(settings, 'site.test')).toEqual({ delayMs: 500, maxInFlight: 2 })
    expect(hostLimits({ ...settings, maxInFlightPerHost: 0 }, 'site.test').maxInFlight).toBe(1)
  })
})

describe('giving back unused', () => {
  it('returns place and time', () => {
    const after = settle(reserve(KNOWN, LIMITS, T), { kind: 'unused' }, { leasedAtMs: T, nowMs: T + 30 })
    expect(after).toMatchObject({ inFlight: 0, nextAtMs: T })
  })

  it('returns no time that someone else has taken', () => {
    const two = reserve(reserve(KNOWN, LIMITS, T), LIMITS, T + GAP)
    expect(settle(two, { kind: 'unused' }, { leasedAtMs: T, nowMs: T + 600 }).nextAtMs).toBe(T + 2 * GAP)
    const slowed = settle(
      leased(2, LIMITS),
      { kind: 'throttled', retryAfterMs: 9000 },
      { leasedAtMs: T, nowMs: T + 10 },
    )
    expect(settle(slowed, { kind: 'unused' }, { leasedAtMs: T, nowMs: T + 20 }).nextAtMs).toBe(T + 9010)
  })
})

describe('slowing down', () => {
  it('is silent for exactly as long as the server asks, at most a day', () => {
    const after = settle(leased(1), { kind: 'throttled', retryAfterMs: 5000 }, { leasedAtMs: T, nowMs: T + 9 })
    expect(after).toMatchObject({ nextAtMs: T + 5009, backoffStep: 1, backoffAtMs: T + 9, inFlight: 0 })
    const years = settle(leased(1), { kind: 'throttled', retryAfterMs: 1e12 }, { leasedAtMs: T, nowMs: T })
    expect(years.nextAtMs).toBe(T + 86_400_000)
  })

  it.each([undefined, 0, Number.NaN, -5])('backs off by itself when the server says %s', (retryAfterMs) => {
    let state = KNOWN
    let waited = 0
    for (let step = 1; step <= 12; step++) {
      const nowMs = T + step * 1e7
      const signal: HostSignal = { kind: 'throttled', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
      state = settle(reserve(state, EAGER, nowMs), signal, { leasedAtMs: nowMs, nowMs })
      waited = state.nextAtMs - nowMs
      expect(state.backoffStep).toBe(step)
      expect(waited).toBeGreaterThanOrEqual(Math.min(750 * 2 ** (step - 1), 150_000))
      expect(waited).toBeLessThanOrEqual(Math.min(1500 * 2 ** (step - 1), 300_000))
    }
    expect(waited).toBeGreaterThanOrEqual(150_000)
  })

  it('takes eight parallel refusals for one step, and the longest wait of them', () => {
    let state = leased(8)
    for (let i = 0; i < 8; i++) {
      state = settle(state, { kind: 'throttled', retryAfterMs: 1000 + i }, { leasedAtMs: T, nowMs: T + 10 + i })
    }
    expect(state).toMatchObject({ backoffStep: 1, inFlight: 0, nextAtMs: T + 10 + 7 + 1007 })
  })

  it('goes on with one request, and with all places after it was answered', () => {
    const slowed = settle(leased(2), { kind: 'throttled', retryAfterMs: 1000 }, { leasedAtMs: T, nowMs: T + 1 })
    const late = settle(slowed, { kind: 'answered' }, { leasedAtMs: T, nowMs: T + 2 })
    expect(late).toMatchObject({ backoffStep: 1, nextAtMs: T + 1001 })
    const probe = reserve(late, EAGER, T + 1001)
    expect(mayStart(probe, EAGER, T + 1002)).toBe(false)
    const good = settle(probe, { kind: 'answered' }, { leasedAtMs: T + 1001, nowMs: T + 1050 })
    expect(good.backoffStep).toBe(0)
    expect(mayStart(reserve(good, EAGER, T + 1050), EAGER, T + 1050)).toBe(true)
  })

  it('holds the host without a step', () => {
    const held = settle(leased(1), { kind: 'hold', holdMs: 700 }, { leasedAtMs: T, nowMs: T + 5 })
    expect(held).toMatchObject({ nextAtMs: T + 705, backoffStep: 0, silentFailures: 0 })
  })

  it('is no business of answers that are only troubled', () => {
    const after = settle(leased(1), { kind: 'troubled' }, { leasedAtMs: T, nowMs: T + 5, limits: EAGER })
    expect(after).toEqual({ ...KNOWN, nextAtMs: T })
  })
})

describe('a host that is silent', () => {
  it('counts as down after five times in a row, and its requests come out at once', () => {
    const state = down()
    expect(isHostDown(state, T + 10)).toBe(true)
    expect(mayStart({ ...state, nextAtMs: T + 99_999, inFlight: 50 }, LIMITS, T + 10)).toBe(true)
    expect(reserve(state, LIMITS, T + 10).nextAtMs).toBe(state.nextAtMs)
  })

  it('starts over with an answer of any kind in between', () => {
    for (const kind of ['answered', 'troubled', 'throttled'] as const) {
      let state = KNOWN
      for (let i = 0; i < 4; i++) state = silence(state, T + i)
      state = settle(reserve(state, EAGER, T + 9), { kind }, { leasedAtMs: T + 9, nowMs: T + 10 })
      expect(state).toMatchObject({ silentFailures: 0, downUntilMs: 0 })
    }
  })

  it('rests 30 s, is probed by one request, and rests twice as long each time, up to 15 min', () => {
    let state = down()
    let restMs = state.downUntilMs - (T + MAX_SILENT_FAILURES)
    expect(restMs).toBe(30_000)
    for (const expected of [60_000, 120_000, 240_000, 480_000, 900_000, 900_000]) {
      const probeAt = state.downUntilMs
      expect(isHostDown(state, probeAt)).toBe(false)
      const probe = reserve(state, EAGER, probeAt)
      expect(mayStart(probe, EAGER, probeAt)).toBe(false)
      state = settle(probe, { kind: 'silent' }, { leasedAtMs: probeAt, nowMs: probeAt + 5 })
      restMs = state.downUntilMs - probeAt - 5
      expect(restMs).toBe(expected)
    }
    const probe = reserve(state, EAGER, state.downUntilMs)
    const up = settle(probe, { kind: 'answered' }, { leasedAtMs: state.downUntilMs, nowMs: state.downUntilMs + 5 })
    expect(up).toMatchObject({ silentFailures: 0, downUntilMs: 0, inFlight: 0 })
  })

  it('does not rest longer for those that were in flight when it went down', () => {
    let state = leased(8)
    for (let i = 0; i < 8; i++) state = settle(state, { kind: 'silent' }, { leasedAtMs: T, nowMs: T + i })
    expect(state.downUntilMs).toBe(T + 4 + 30_000)
    expect(state.inFlight).toBe(0)
  })
})

/** A host as a frontier keeps it, with a log of its own to judge it by. */
function simulate(limits: HostLimits) {
  let state = initialHostState()
  let quietUntilMs = 0
  const inFlight: { readonly atMs: number; readonly sent: boolean }[] = []
  let starts: number[] = []
  return {
    state: () => state,
    inFlight,
    start(nowMs: number): void {
      if (!mayStart(state, limits, nowMs)) return
      const sent = !isHostDown(state, nowMs)
      state = reserve(state, limits, nowMs)
      inFlight.push({ atMs: nowMs, sent })
      if (!sent) return
      expect(nowMs).toBeGreaterThanOrEqual(quietUntilMs)
      expect(starts.filter((before) => nowMs - before < limits.delayMs)).toEqual([])
      expect(state.inFlight).toBeLessThanOrEqual(limits.maxInFlight)
      starts.push(nowMs)
    },
    settle(pick: number, wanted: HostSignal, nowMs: number): void {
      const [request] = inFlight.splice(pick % Math.max(1, inFlight.length), 1)
      if (request === undefined) return
      const signal: HostSignal = request.sent ? wanted : { kind: 'unused' }
      state = settleHost(state, signal, { leasedAtMs: request.atMs, nowMs, limits, random })
      // What was given back was no start.
      if (signal.kind === 'unused') starts = starts.filter((atMs) => atMs !== request.atMs)
      if (signal.kind === 'throttled') quietUntilMs = Math.max(quietUntilMs, nowMs + (signal.retryAfterMs ?? 0))
    },
  }
}

describe('whatever happens', () => {
  const anySignal: fc.Arbitrary<HostSignal> = fc.oneof(
    fc.constantFrom<HostSignal>({ kind: 'unused' }, { kind: 'troubled' }, { kind: 'silent' }, { kind: 'answered' }),
    fc.record({ kind: fc.constant('answered' as const), crawlDelayMs: fc.integer({ min: 0, max: 5000 }) }),
    fc.record({ kind: fc.constant('throttled' as const), retryAfterMs: fc.integer({ min: 0, max: 20_000 }) }),
    fc.record({ kind: fc.constant('hold' as const), holdMs: fc.integer({ min: 0, max: 5000 }) }),
  )
  const step = fc.record({
    waitMs: fc.integer({ min: 0, max: 3000 }),
    isStart: fc.boolean(),
    pick: fc.nat(),
    signal: anySignal,
  })

  it('starts are the delay apart, places are kept, silence that was asked for is kept, numbers stay numbers', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 1000 }), (steps, delayMs) => {
        const host = simulate({ delayMs, maxInFlight: 3 })
        let nowMs = T
        for (const { waitMs, isStart, pick, signal } of steps) {
          nowMs += waitMs
          if (isStart) host.start(nowMs)
          else host.settle(pick, signal, nowMs)
          expect(host.state().inFlight).toBe(host.inFlight.length)
          expect(Object.values(host.state()).filter((value) => !Number.isSafeInteger(value) || value < 0)).toEqual([])
          expect(host.state().nextAtMs).toBeLessThanOrEqual(nowMs + 86_400_000)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a request that goes out late', () => {
  it('moves the next start along, and never back', () => {
    const first = reserve(KNOWN, LIMITS, T)
    expect(startLate(first, LIMITS, T + 300).nextAtMs).toBe(T + 300 + GAP)
    expect(startLate({ ...first, nextAtMs: T + 9000 }, LIMITS, T + 300).nextAtMs).toBe(T + 9000)
  })
})
