import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Redis } from 'ioredis'
import type { HostLimits, HostSignal, HostState } from '../../src/politeness/contract.ts'
import {
  isHostDown,
  isSilent,
  mayStart,
  nextStartMs,
  reserve,
  settleHost,
  startLate,
} from '../../src/politeness/host-state.ts'
import { POLITENESS } from '../../src/stores/redis/lua/politeness.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('REDIS')

const FIELDS = ['nextAt', 'inFlight', 'crawlDelay', 'backoffStep', 'backoffAt', 'silent', 'downUntil']

/** Arguments: now, a random number, delay, places, leasedAt, signal, its value, then the state. */
const SCRIPT = `
local now, chance = tonumber(ARGV[1]), tonumber(ARGV[2])
local function random() return chance end
${POLITENESS}
local delay, places, leasedAt, signal, value =
  tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local fields = { '${FIELDS.join("', '")}' }
local function host()
  local h = {}
  for n, field in ipairs(fields) do h[field] = tonumber(ARGV[7 + n]) end
  return h
end
local answers = {}
local function tell(h)
  for _, field in ipairs(fields) do answers[#answers + 1] = string.format('%.17g', h[field]) end
end
local h = host()
answers[1] = tostring(isDown(h))
answers[2] = tostring(mayStart(h, delay, places))
local due = dueOf(h, delay, places)
answers[3] = due and string.format('%.17g', due) or 'never'
answers[4] = tostring(isSilent(h))
reserve(h, delay, places) tell(h)
h = host() startLate(h, delay, places) tell(h)
h = host() settleHost(h, signal, value, leasedAt, delay) tell(h)
return answers
`

const instant = fc.oneof(fc.nat(100_000), fc.double({ min: 0, max: 100_000, noNaN: true }), fc.constant(0))
const state: fc.Arbitrary<HostState> = fc.record({
  nextAtMs: instant,
  inFlight: fc.nat(5),
  crawlDelayMs: fc.constantFrom(0, 0, 500, 1000, 2500.5),
  backoffStep: fc.constantFrom(0, 0, 1, 2, 9, 30),
  backoffAtMs: instant,
  silentFailures: fc.nat(30),
  downUntilMs: fc.oneof(fc.constant(0), instant),
})
const someMs = fc.constantFrom(undefined, 0, -5, 1, 700.25, 60_000, 9e12, Number.POSITIVE_INFINITY)
const signal: fc.Arbitrary<HostSignal> = fc.oneof(
  fc.constantFrom<HostSignal>({ kind: 'unused' }, { kind: 'troubled' }, { kind: 'silent' }),
  someMs.map((ms): HostSignal => (ms === undefined ? { kind: 'answered' } : { kind: 'answered', crawlDelayMs: ms })),
  someMs.map((ms): HostSignal => (ms === undefined ? { kind: 'throttled' } : { kind: 'throttled', retryAfterMs: ms })),
  someMs.map((ms): HostSignal => ({ kind: 'hold', holdMs: ms ?? 3 })),
)
const limits: fc.Arbitrary<HostLimits> = fc.record({
  delayMs: fc.constantFrom(0, 100, 1000, 0.5),
  maxInFlight: fc.integer({ min: 1, max: 4 }),
})
const input = fc.record({
  state,
  signal,
  limits,
  nowMs: instant,
  leasedAtMs: instant,
  chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
  /** The next time is the one that this request reserved, so that it can be given back. */
  own: fc.boolean(),
})

type Input = typeof input extends fc.Arbitrary<infer T> ? T : never

let client: Redis | undefined
beforeAll(() => {
  if (server !== undefined) client = new Redis(server, { protocol: 2 })
})
afterAll(() => {
  client?.disconnect()
})

function numbersOf(host: HostState): number[] {
  const { nextAtMs, inFlight, crawlDelayMs, backoffStep, backoffAtMs, silentFailures, downUntilMs } = host
  return [nextAtMs, inFlight, crawlDelayMs, backoffStep, backoffAtMs, silentFailures, downUntilMs]
}

function valueOf(of: HostSignal): number | undefined {
  if (of.kind === 'answered') return of.crawlDelayMs
  if (of.kind === 'throttled') return of.retryAfterMs
  return of.kind === 'hold' ? of.holdMs : undefined
}

function textOf(n: number | undefined): string {
  if (n === undefined) return ''
  return Number.isFinite(n) ? String(n) : '1e400'
}

function byUs({ state: host, signal: of, limits: to, nowMs, leasedAtMs, chance }: Input): unknown[] {
  const startMs = nextStartMs(host, to, nowMs)
  const due = isHostDown(host, nowMs) ? 0 : startMs
  const settled = settleHost(host, of, { leasedAtMs, nowMs, limits: to, random: () => chance })
  return [
    isHostDown(host, nowMs),
    mayStart(host, to, nowMs),
    Number.isFinite(startMs) ? due : 'never',
    isSilent(host),
    ...[reserve(host, to, nowMs), startLate(host, to, nowMs), settled].flatMap(numbersOf),
  ]
}

async function byServer(script: Redis, { state: host, signal: of, limits: to, nowMs, leasedAtMs, chance }: Input) {
  const args = [nowMs, chance, to.delayMs, to.maxInFlight, leasedAtMs, of.kind]
  const numbers = numbersOf(host).map(String)
  const [down, may, due, silent, ...rest] = (await script.eval(
    SCRIPT,
    0,
    ...args,
    textOf(valueOf(of)),
    ...numbers,
  )) as string[]
  return [down === 'true', may === 'true', due === 'never' ? due : Number(due), silent === 'true', ...rest.map(Number)]
}

it.skipIf(server === undefined)('the server reckons with hosts as the policy does, in every case', async () => {
  await fc.assert(
    fc.asyncProperty(input, async (drawn) => {
      if (client === undefined) throw new Error('Expected a server')
      const { delayMs } = drawn.limits
      const reserved = drawn.leasedAtMs + (delayMs > 0 ? delayMs + 5 : 0)
      const host = drawn.own ? { ...drawn.state, nextAtMs: reserved, backoffAtMs: 0, crawlDelayMs: 0 } : drawn.state
      const each = { ...drawn, state: host }
      expect(await byServer(client, each)).toEqual(byUs(each))
    }),
    { numRuns: 1500 },
  )
})
