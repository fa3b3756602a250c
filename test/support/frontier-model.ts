/** Random sequences of commands, given to a store and to the memory store: both must answer the same. */

import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { Outcome } from '../../src/core/outcome.ts'
import { SKIP_REASONS } from '../../src/core/outcome.ts'
import type { StoredRequest } from '../../src/core/request.ts'
import type { Lease, RequestFilter, Settlement } from '../../src/frontier/contract.ts'
import type { HostSignal } from '../../src/politeness/contract.ts'
import type { Store } from '../../src/stores/contract.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'
import { fingerprintOf, settings } from '../../src/testing/suite/subject.ts'
import { seededRandom } from '../../src/util/random.ts'
import type { Random } from '../../src/util/random.ts'

const TASKS = ['one', 'two']
const HOSTS = ['a.test', 'b.test', 'localhost:81']

type Command =
  | {
      readonly kind: 'open'
      readonly task: string
      readonly maxDepth: number | undefined
      readonly order: 'bfs' | 'dfs'
    }
  | { readonly kind: 'add'; readonly requests: readonly StoredRequest[] }
  | {
      readonly kind: 'lease'
      readonly tasks: readonly string[]
      readonly max: number
      readonly leaseMs: number
      readonly pageLimit: number | undefined
      readonly unpaced: number | undefined
      readonly maxSilent: number | undefined
    }
  | { readonly kind: 'renew'; readonly pick: number; readonly leaseMs: number }
  | {
      readonly kind: 'settle'
      readonly picks: readonly {
        readonly pick: number
        readonly outcome: Outcome
        readonly host: HostSignal
        readonly found: readonly StoredRequest[]
        readonly known: readonly string[]
        readonly items: number
      }[]
    }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'requeue'; readonly filter: RequestFilter }
  | { readonly kind: 'clear'; readonly task: string }
  | { readonly kind: 'crash' }

const task = fc.constantFrom(...TASKS)
const name = fc.tuple(fc.constantFrom(...HOSTS), fc.nat(5)).map(([host, n]) => `${host}/${n}`)
const anyRequest: fc.Arbitrary<StoredRequest> = fc
  .record(
    {
      task,
      name,
      depth: fc.nat(4),
      priority: fc.constantFrom(0, 0, 0, 1, -1),
      skip: fc.constantFrom(...SKIP_REASONS),
      label: fc.constantFrom('x', 'y'),
    },
    { requiredKeys: ['task', 'name', 'depth', 'priority'] },
  )
  .map(({ name: path, ...rest }) => requestOf(path, rest))

function requestOf(path: string, rest: Omit<StoredRequest, 'url' | 'fingerprint' | 'hostKey'>): StoredRequest {
  return { ...rest, url: `http://${path}`, fingerprint: fingerprintOf(path), hostKey: path.split('/')[0] ?? '' }
}

const attempt = fc.constantFrom(
  { failure: 'timeout', error: 'slow' } as const,
  { failure: 'http-5xx', error: 'bad', status: 503 } as const,
)
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Outcome>({ kind: 'done', status: 200, fromCache: false }) },
  fc.constantFrom(...SKIP_REASONS).map((reason): Outcome => ({ kind: 'skipped', reason })),
  attempt.map((each): Outcome => ({ kind: 'failed', attempt: each })),
  fc
    .tuple(attempt, fc.constantFrom(0, 500, 3000), fc.boolean())
    .map(([each, retryInMs, charged]): Outcome => ({ kind: 'retry', attempt: each, retryInMs, charged })),
  fc.constant<Outcome>({ kind: 'released' }),
  {
    weight: 3,
    arbitrary: name.map((path): Outcome => {
      const { url, fingerprint, hostKey } = requestOf(path, { task: '', depth: 0, priority: 0 })
      return { kind: 'redirected', to: { url, fingerprint, hostKey, hop: `to ${path}` } }
    }),
  },
)
const host: fc.Arbitrary<HostSignal> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<HostSignal>({ kind: 'answered' }) },
  fc.constantFrom<HostSignal>(
    { kind: 'unused' },
    { kind: 'answered', crawlDelayMs: 700 },
    { kind: 'throttled' },
    { kind: 'throttled', retryAfterMs: 900 },
    { kind: 'troubled' },
    { kind: 'silent' },
    { kind: 'silent' },
    { kind: 'hold', holdMs: 400 },
  ),
)
const maxDepth = fc.constantFrom(undefined, 1, 2, 3)
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('open' as const),
      task,
      maxDepth,
      order: fc.constantFrom('bfs' as const, 'dfs' as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('add' as const), requests: fc.array(anyRequest, { maxLength: 6 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('lease' as const),
      tasks: fc.constantFrom(TASKS, ['one'], ['two']),
      max: fc.integer({ min: 1, max: 6 }),
      leaseMs: fc.constantFrom(1000, 60_000),
      pageLimit: fc.constantFrom(undefined, undefined, 4),
      unpaced: fc.constantFrom(undefined, undefined, 2),
      maxSilent: fc.constantFrom(undefined, undefined, 0, 1, 2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('renew' as const), pick: fc.nat(), leaseMs: fc.constantFrom(500, 5000) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      picks: fc.array(
        fc.record({
          pick: fc.nat(),
          outcome,
          host,
          found: fc.array(anyRequest, { maxLength: 4 }),
          known: fc.array(name.map(fingerprintOf), { maxLength: 2 }),
          items: fc.nat(2),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(10, 300, 1000, 40_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('requeue' as const),
      filter: fc.record(
        {
          task,
          state: fc.constantFrom('done', 'failed', 'skipped'),
          hostKey: fc.constantFrom(...HOSTS),
          reason: fc.constantFrom('robots', 'timeout'),
        },
        { requiredKeys: ['task'] },
      ) as fc.Arbitrary<RequestFilter>,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), task }) },
  { weight: 1, arbitrary: fc.constant<Command>({ kind: 'crash' }) },
)

/** One store with the leases that it gave, in the order in which it gave them. */
interface Side {
  store: Store
  leases: Lease[]
  /** Both stores give unpaced leases. */
  unpaced: boolean
}

/** What a lease says, without what is only a store's own name for it. */
function shown(lease: Lease): object {
  return { ...lease, token: '' }
}

async function openTask(
  { store }: Side,
  fields: { task: string; maxDepth?: number | undefined; order?: 'bfs' | 'dfs' },
): Promise<void> {
  const limit = fields.maxDepth === undefined ? {} : { maxDepth: fields.maxDepth }
  const places = { delayMs: 100, loopbackDelayMs: 0, maxInFlightPerHost: 3 }
  await store.frontier.openTask(settings({ name: fields.task, order: fields.order ?? 'bfs', ...places, ...limit }))
}

async function leaseAsAsked(
  side: Side,
  { tasks, max, leaseMs, pageLimit, unpaced, maxSilent }: Extract<Command, { kind: 'lease' }>,
): Promise<object[]> {
  const leases = await side.store.frontier.lease({
    tasks,
    max,
    leaseMs,
    ...(pageLimit === undefined ? {} : { pageLimit }),
    ...(maxSilent === undefined ? {} : { maxSilent }),
    ...(unpaced === undefined || !side.unpaced ? {} : { unpaced: new Map(HOSTS.map((each) => [each, unpaced])) }),
  })
  side.leases.push(...leases)
  return leases.map(shown)
}

async function perform(side: Side, step: Exclude<Command, { kind: 'advance' | 'crash' }>): Promise<unknown> {
  const { frontier } = side.store
  switch (step.kind) {
    case 'open':
      return openTask(side, step)
    case 'add':
      return frontier.add(step.requests)
    case 'lease':
      return leaseAsAsked(side, step)
    case 'renew': {
      const lease = side.leases[step.pick % side.leases.length]
      return lease === undefined ? undefined : frontier.renew([lease], step.leaseMs)
    }
    case 'settle':
      return frontier.settle(
        step.picks.flatMap(({ pick, outcome: end, host: signal, found, known, items }): Settlement[] => {
          const lease = side.leases[Math.max(0, side.leases.length - 1 - (pick % 8))]
          if (lease === undefined) return []
          const discovered = found.map((each) => ({
            ...each,
            task: lease.request.task,
            depth: lease.request.depth + 1,
          }))
          const data = { url: lease.url, depth: lease.request.depth }
          const drafts = Array.from({ length: items }, (_, n) => ({ data: { ...data, n }, isPage: n === 0 }))
          return [
            { lease, outcome: end, host: signal, discovered, knownLinks: known, items: drafts, counts: { bytes: 1 } },
          ]
        }),
      )
    case 'requeue':
      return frontier.requeue(step.filter)
    case 'clear':
      await frontier.clear(step.task)
      return openTask(side, step)
  }
}

async function everything({ store }: Side): Promise<unknown> {
  const tasks = await Promise.all(
    TASKS.map(async (each) => [
      await store.frontier.stats(each),
      await store.frontier.levels(each),
      (await store.frontier.list({ task: each }, { max: 1000 })).records,
      await store.items.read(each, 0, 1000),
      await store.items.revision(each),
    ]),
  )
  const abort = new AbortController()
  const outlooks = [{}, { maxSilent: 0 }].map((scope) =>
    store.frontier.waitForWork({ tasks: TASKS, ...scope }, abort.signal),
  )
  abort.abort()
  return { outlooks: await Promise.all(outlooks), tasks, problems: await store.verify(), names: await store.tasks() }
}

/** A new, empty store that is compared with the memory store, by the same clock and the same random numbers. */
export interface ModelSubject {
  readonly clock: FakeClock
  open(random: Random): Promise<Store>
  /** What another process finds on the same data after the first was killed. */
  crash(random: Random): Promise<Store>
  dispose(): Promise<void>
}

const SEED = 7

async function runModel(commands: readonly Command[], subject: ModelSubject): Promise<void> {
  const { clock } = subject
  const memory: Side = { store: openMemoryStore({ clock, random: seededRandom(SEED) }), leases: [], unpaced: false }
  const random = seededRandom(SEED)
  const other: Side = { store: await subject.open(random), leases: [], unpaced: false }
  for (const side of [memory, other]) side.unpaced = other.store.frontier.capabilities.unpaced === true
  const opened = [other.store]
  for (const each of TASKS) for (const side of [memory, other]) await openTask(side, { task: each, maxDepth: 2 })
  for (const step of commands) {
    if (step.kind === 'advance') await clock.advance(step.ms)
    else if (step.kind === 'crash') {
      // In memory the same is: every lease runs out.
      other.store = await subject.crash(random)
      opened.push(other.store)
      const held = memory.leases
      const alive = await memory.store.frontier.renew(held, 0)
      expect(alive.length).toBe(held.length)
      await memory.store.frontier.lease({ tasks: TASKS, max: 0, leaseMs: 1 })
    } else {
      const wanted = await perform(memory, step)
      expect(await perform(other, step), step.kind).toEqual(wanted)
    }
    expect(await everything(other), `after ${step.kind}`).toEqual(await everything(memory))
  }
  expect((await other.store.verify()).concat(await memory.store.verify())).toEqual([])
  for (const each of opened) await each.close()
}

/** MODEL_RUNS in the environment says how many sequences; MODEL_SHRINK makes what fails smaller. */
export async function compareWithMemory(create: () => Promise<ModelSubject>, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 40 }), async (commands) => {
      const subject = await create()
      try {
        await runModel(commands, subject)
      } finally {
        await subject.dispose()
      }
    }),
    { numRuns: Number(process.env['MODEL_RUNS'] ?? runs), endOnFailure: process.env['MODEL_SHRINK'] === undefined },
  )
}
