/** Cases of items, of small state, and of what survives a crash. */

import { deepEqual, equal, ok } from 'node:assert/strict'
import { isCrawlError } from '../../core/errors.ts'
import {
  begin,
  drain,
  fingerprintOf,
  leaseMany,
  leaseOne,
  paths,
  request,
  settings,
  settlement,
  TASK,
} from './subject.ts'
import type { Store } from '../../stores/contract.ts'
import type { SuiteCases } from './subject.ts'

export const itemCases: SuiteCases = {
  'reads items in the order in which they were settled, in pages': async (subject) => {
    await begin(subject, [request('a'), request('b')])
    const [first, second] = await leaseMany(subject.store)
    if (first === undefined || second === undefined) throw new Error('Expected two leases')
    const { frontier, items } = subject.store
    deepEqual(await items.read(TASK, 0, 10), [])
    await frontier.settle([settlement(second, { items: [{ data: { value: 1 } }, { data: { value: 2 } }] })])
    await frontier.settle([settlement(first, { items: [{ data: { value: 3 } }] })])
    const all = await items.read(TASK, 0, 10)
    deepEqual(
      all.map(({ json }) => json),
      ['{"value":1}', '{"value":2}', '{"value":3}'],
    )
    ok(all.every(({ seq }, n) => seq > (all[n - 1]?.seq ?? 0)))
    deepEqual(await items.read(TASK, all[0]?.seq ?? 0, 1), [all[1]])
    deepEqual(await items.read(TASK, all[2]?.seq ?? 0, 1), [])
    equal((await frontier.stats(TASK)).items, 3)
  },

  'keeps any JSON as it is': async (subject) => {
    await begin(subject, [request('a')])
    const data = { text: '\u0000\ud800"\\\u2028ü😀', n: 1e-7, list: [null, { a: [] }], big: 'x'.repeat(100_000) }
    await subject.store.frontier.settle([settlement(await leaseOne(subject.store), { items: [{ data }] })])
    const [item] = await subject.store.items.read(TASK, 0, 1)
    equal(item?.json, JSON.stringify(data))
  },

  'keeps the items of two tasks apart': async (subject) => {
    await begin(subject, [request('a')])
    await subject.store.frontier.openTask(settings({ name: 'other' }))
    await subject.store.frontier.settle([settlement(await leaseOne(subject.store), { items: [{ data: {} }] })])
    equal((await subject.store.items.read(TASK, 0, 10)).length, 1)
    deepEqual(await subject.store.items.read('other', 0, 10), [])
  },
}

export const stateCases: SuiteCases = {
  'sets, gets, lists and deletes': async ({ store: { state } }) => {
    equal(await state.get('a'), undefined)
    await state.set({ 'a/2': 'two', 'a/1': 'one', b: '', a_: 'x', 'a%': 'y' })
    deepEqual([await state.get('a/1'), await state.get('b')], ['one', ''])
    deepEqual(await state.keys('a/'), ['a/1', 'a/2'])
    deepEqual(await state.keys('a%'), ['a%'])
    deepEqual(await state.keys(''), ['a%', 'a/1', 'a/2', 'a_', 'b'])
    await state.set({ 'a/1': undefined, 'a/2': 'ü\u0000' })
    deepEqual([await state.get('a/1'), await state.get('a/2')], [undefined, 'ü\u0000'])
    deepEqual(await state.keys('a/'), ['a/2'])
  },

  'keeps large values': async ({ store: { state } }) => {
    const large = 'ä'.repeat(600_000)
    await state.set({ large })
    equal(await state.get('large'), large)
  },
}

export const closeCases: SuiteCases = {
  'close gives back what is held and can be called twice': async ({ store }) => {
    await begin({ store }, [request('a')])
    await leaseOne(store)
    await store.close()
    await store.close()
  },
}

/** Only for stores that say so: see `FrontierCapabilities`. */
export const durableCases: SuiteCases = {
  '6. what add and settle acknowledged is there after a crash': async (subject) => {
    await begin(subject, [request('a'), request('b'), request('no', { skip: 'scope' })], { maxDepth: 3 })
    const { frontier, state } = subject.store
    await state.set({ robots: 'x' })
    const discovered = [request('c', { depth: 1 })]
    const items = [{ data: { url: 'a' } }]
    await frontier.settle([settlement(await leaseOne(subject.store), { discovered, items, counts: { bytes: 7 } })])
    const before = await frontier.stats(TASK)
    const store = await reopen(subject)
    deepEqual(await store.frontier.stats(TASK), before)
    deepEqual(await store.verify(), [])
    equal(await store.state.get('robots'), 'x')
    equal((await store.items.read(TASK, 0, 9)).length, 1)
    equal((await store.frontier.get(TASK, fingerprintOf('c')))?.parentUrl, 'http://h.test/a')
    await store.frontier.openTask(settings({ maxDepth: 3 }))
    deepEqual(await drain(store), ['b', 'c'])
  },

  '3. leases of a dead owner come back at once': async (subject) => {
    await begin(subject, [request('a')], { maxInFlightPerHost: 1 })
    const lost = await leaseOne(subject.store)
    const store = await reopen(subject)
    const again = await leaseOne(store)
    deepEqual([again.id, again.attempt], [lost.id, 2])
    deepEqual(await store.frontier.settle([settlement(lost)]), ['lost'])
    deepEqual(await store.verify(), [])
  },

  '2. politeness survives a crash': async (subject) => {
    await begin(subject, [request('a'), request('b')], { delayMs: 5000 })
    const throttled = { kind: 'throttled', retryAfterMs: 60_000 } as const
    await subject.store.frontier.settle([settlement(await leaseOne(subject.store), { host: throttled })])
    const store = await reopen(subject)
    await subject.advance(30_000)
    deepEqual(await paths(store), [])
    await subject.advance(31_000)
    deepEqual(await paths(store), ['b'])
  },

  'a closed store is opened again without a charge': async (subject) => {
    await begin(subject, [request('a')])
    await leaseOne(subject.store)
    await subject.store.close()
    const store = await reopen(subject)
    equal((await leaseOne(store)).attempt, 1)
  },

  'a closed store says so': async (subject) => {
    await begin(subject, [request('a')])
    await subject.store.close()
    const refused = await subject.store.frontier.add([request('b')]).catch((error: unknown) => error)
    ok(isCrawlError(refused, 'STORE_CLOSED'))
  },
}

async function reopen({ crash }: { readonly crash?: () => Promise<Store> }): Promise<Store> {
  if (crash === undefined) throw new Error('A durable store needs `crash` in its subject')
  return crash()
}

/** Only for stores that several processes share. */
export const sharedCases: SuiteCases = {
  '2. two owners never hold the same request': async (subject) => {
    await begin(
      subject,
      Array.from({ length: 40 }, (_, n) => request(`${n}`)),
    )
    const other = await joinOf(subject)
    const held = await Promise.all([0, 1, 2, 3].map((n) => paths(n % 2 === 0 ? subject.store : other, { max: 10 })))
    equal(new Set(held.flat()).size, 40)
  },

  '2. a host’s places are counted over all owners': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c'].map((name) => request(name)),
      { maxInFlightPerHost: 1 },
    )
    const other = await joinOf(subject)
    const held = await leaseOne(subject.store)
    deepEqual(await paths(other), [])
    await subject.store.frontier.settle([settlement(held)])
    deepEqual(await paths(other), ['b'])
    deepEqual(await paths(subject.store), [])
  },

  '4. only the owner of a lease can settle it': async (subject) => {
    await begin(subject, [request('a')])
    const other = await joinOf(subject)
    const lost = await leaseOne(subject.store, { leaseMs: 1000 })
    await subject.advance(1100)
    const held = await leaseOne(other)
    deepEqual(await subject.store.frontier.settle([settlement(lost)]), ['lost'])
    deepEqual(await other.frontier.settle([settlement(held)]), ['settled'])
  },

  'an owner sees the other’s work, and both see the end': async (subject) => {
    await begin(subject, [request('a')])
    const other = await joinOf(subject)
    const held = await leaseOne(subject.store)
    const { signal } = new AbortController()
    const waiting = other.frontier.waitForWork({ tasks: [TASK] }, signal)
    await subject.store.frontier.settle([settlement(held, { discovered: [request('b', { depth: 1 })] })])
    await subject.advance(1500)
    equal(await waiting, 'ready')
    await other.frontier.settle([settlement(await leaseOne(other))])
    equal(await subject.store.frontier.waitForWork({ tasks: [TASK] }, signal), 'finished')
  },

  'lists the owners that are at work': async (subject) => {
    await begin(subject, [request('a')])
    const other = await joinOf(subject)
    await leaseOne(other)
    const workers = await subject.store.frontier.workers()
    deepEqual(workers.map(({ alive, leased }) => [alive, leased]).toSorted(), [
      [true, 0],
      [true, 1],
    ])
    await other.close()
    equal((await subject.store.frontier.workers()).length, 1)
  },
}

async function joinOf({ join }: { readonly join?: () => Promise<Store> }): Promise<Store> {
  if (join === undefined) throw new Error('A shared store needs `join` in its subject')
  return join()
}
