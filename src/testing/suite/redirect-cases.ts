/** Cases of redirects: a request that goes on elsewhere, aliases, duplicates. */

import { deepEqual, equal } from 'node:assert/strict'
import type { RedirectTarget } from '../../core/outcome.ts'
import type { Lease } from '../../frontier/contract.ts'
import type { Store } from '../../stores/contract.ts'
import { begin, drain, fingerprintOf, leaseMany, leaseOne, paths, request, settlement, TASK } from './subject.ts'
import type { SuiteCases } from './subject.ts'

function target(name: string, hop = '301'): RedirectTarget {
  const { url, fingerprint, hostKey } = request(name)
  return { url, fingerprint, hostKey, hop }
}

async function redirect(store: Store, lease: Lease, to: RedirectTarget): Promise<void> {
  deepEqual(await store.frontier.settle([settlement(lease, { outcome: { kind: 'redirected', to } })]), ['settled'])
}

export const redirectCases: SuiteCases = {
  'a redirected request goes on at its target, in that host’s queue, with no attempt charged': async (subject) => {
    await begin(subject, [request('a', { label: 'kept' })])
    const { store } = subject
    const first = await leaseOne(store)
    await redirect(store, first, target('b.test/x', 'hop 1'))
    const second = await leaseOne(store)
    deepEqual([second.id, second.url, second.hostKey], [first.id, 'http://b.test/x', 'b.test'])
    deepEqual([second.hops, second.attempt, second.request], [['hop 1'], 1, first.request])
    await store.frontier.settle([settlement(second)])
    const record = await store.frontier.get(TASK, fingerprintOf('a'))
    deepEqual([record?.state, record?.finalUrl], ['done', 'http://b.test/x'])
  },

  '2. a redirected request takes a place at the target’s host': async (subject) => {
    await begin(subject, [request('a'), request('b.test/1'), request('c')], { maxInFlightPerHost: 1 })
    const { store } = subject
    const [first, other] = await leaseMany(store)
    if (first === undefined || other === undefined) throw new Error('Expected two leases')
    const [atA, atB] = first.hostKey === 'h.test' ? [first, other] : [other, first]
    await redirect(store, atA, target('b.test/2'))
    deepEqual(await paths(store), ['c'])
    await store.frontier.settle([settlement(atB)])
    deepEqual(await paths(store), ['b.test/2'])
  },

  'an unknown target becomes known as an alias': async (subject) => {
    await begin(subject, [request('a', { depth: 3 })])
    const { store } = subject
    await redirect(store, await leaseOne(store), target('b'))
    const alias = await store.frontier.get(TASK, fingerprintOf('b'))
    deepEqual([alias?.state, alias?.reason, alias?.aliasOf], ['skipped', 'duplicate', 'http://h.test/a'])
    deepEqual(await store.frontier.add([request('b', { depth: 5 })]), ['known'])
    await store.frontier.add([request('b', { depth: 1 })])
    equal((await leaseOne(store)).request.depth, 1)
  },

  'a known target is not fetched again: the request ends as its duplicate': async (subject) => {
    await begin(subject, [request('b', { depth: 2 }), request('a')], { maxDepth: 4 })
    const { store } = subject
    const atA = await leaseOne(store)
    equal(atA.url, 'http://h.test/a')
    await redirect(store, atA, target('b'))
    const record = await store.frontier.get(TASK, fingerprintOf('a'))
    deepEqual([record?.state, record?.reason, record?.aliasOf], ['skipped', 'duplicate', 'http://h.test/b'])
    const atB = await leaseOne(store)
    deepEqual([atB.url, atB.request.depth], ['http://h.test/b', 0])
    deepEqual(await drain(store), [])
  },

  'a target that was only refused is fetched in the name of the request': async (subject) => {
    await begin(subject, [request('a'), request('b', { skip: 'scope' })])
    const { store } = subject
    await redirect(store, await leaseOne(store), target('b'))
    equal((await leaseOne(store)).url, 'http://h.test/b')
    deepEqual((await store.frontier.stats(TASK)).skipped, { duplicate: 1 })
  },

  'a redirect to itself, or back to where it has been, goes on': async (subject) => {
    await begin(subject, [request('a')])
    const { store } = subject
    await redirect(store, await leaseOne(store), target('a', '1'))
    await redirect(store, await leaseOne(store), target('b', '2'))
    await redirect(store, await leaseOne(store), target('a', '3'))
    const last = await leaseOne(store)
    deepEqual([last.url, last.hops], ['http://h.test/a', ['1', '2', '3']])
    await store.frontier.settle([settlement(last)])
    deepEqual(await drain(store), [])
    const { done, skipped, known } = await store.frontier.stats(TASK)
    deepEqual([done, skipped, known], [1, { duplicate: 1 }, 2])
  },

  'aliases of a duplicate stand for what it stands for': async (subject) => {
    await begin(subject, [request('a', { depth: 1 }), request('c', { depth: 4 })], { maxDepth: 9 })
    const { store } = subject
    await redirect(store, await leaseOne(store), target('b'))
    await redirect(store, await leaseOne(store), target('c'))
    equal((await store.frontier.get(TASK, fingerprintOf('b')))?.aliasOf, 'http://h.test/c')
    equal((await store.frontier.get(TASK, fingerprintOf('c')))?.request.depth, 1)
    await store.frontier.add([request('b')])
    equal((await leaseOne(store)).request.depth, 0)
    deepEqual(await store.verify(), [])
  },

  'two requests that redirect to each other end': async (subject) => {
    await begin(subject, [request('a'), request('b')])
    const { store } = subject
    const [atA, atB] = await leaseMany(store)
    if (atA === undefined || atB === undefined) throw new Error('Expected two leases')
    await redirect(store, atA, target('b'))
    await redirect(store, atB, target('a'))
    deepEqual(await drain(store), ['a'])
    deepEqual(await store.verify(), [])
  },

  '3. an expired lease goes on where redirects had led': async (subject) => {
    await begin(subject, [request('a')])
    const { store } = subject
    await redirect(store, await leaseOne(store), target('b.test/x'))
    await leaseOne(store, { leaseMs: 1000 })
    await subject.advance(1100)
    const again = await leaseOne(store)
    deepEqual([again.url, again.attempt], ['http://b.test/x', 2])
  },
}
