/** Cases of order, and of depth that is true whatever way a page was met first. */

import { deepEqual, equal } from 'node:assert/strict'
import type { StoredRequest } from '../../core/request.ts'
import type { Store } from '../../stores/contract.ts'
import { begin, drain, fingerprintOf, leaseOne, paths, request, settings, settlement, TASK } from './subject.ts'
import type { SuiteCases } from './subject.ts'

const mixed: readonly StoredRequest[] = [
  request('deep', { depth: 2 }),
  request('first', { depth: 1 }),
  request('second', { depth: 1 }),
  request('seed'),
  request('urgent', { depth: 3, priority: 2 }),
  request('later', { priority: -1 }),
]

export const orderCases: SuiteCases = {
  '5. breadth-first: priority, then smaller depth, then first come': async (subject) => {
    await begin(subject, mixed)
    deepEqual(await drain(subject.store), ['urgent', 'seed', 'first', 'second', 'deep', 'later'])
  },

  '5. depth-first: priority, then larger depth, then first come': async (subject) => {
    await begin(subject, mixed, { order: 'dfs' })
    deepEqual(await drain(subject.store), ['urgent', 'deep', 'first', 'second', 'seed', 'later'])
  },

  '5. keeps the order within one call': async (subject) => {
    await begin(subject, mixed)
    deepEqual(await paths(subject.store, { max: 4 }), ['urgent', 'seed', 'first', 'second'])
  },

  '5. an urgent or nearer second meeting moves a request forward': async (subject) => {
    await begin(subject, mixed)
    await subject.store.frontier.add([request('deep'), request('second', { depth: 1, priority: 3 })])
    deepEqual(await drain(subject.store), ['second', 'urgent', 'deep', 'seed', 'first', 'later'])
  },

  '5. a change of order holds for what is already queued': async (subject) => {
    await begin(subject, mixed)
    await subject.store.frontier.openTask(settings({ order: 'dfs' }))
    deepEqual(await drain(subject.store), ['urgent', 'deep', 'first', 'second', 'seed', 'later'])
  },

  '5. fractional priorities count': async (subject) => {
    await begin(
      subject,
      [0.25, 0.75, 0.5].map((priority) => request(`p${priority * 100}`, { priority })),
    )
    deepEqual(await drain(subject.store), ['p75', 'p50', 'p25'])
  },

  'judges anew what the door refused for its depth when there is a first limit, not before': async (subject) => {
    await begin(subject, [request('near', { depth: 1, skip: 'depth' }), request('far', { depth: 3, skip: 'depth' })])
    const { frontier } = subject.store
    for (const [limit, pending] of [
      [{}, 0],
      [{ order: 'dfs' as const }, 0],
      [{ maxDepth: 2, order: 'dfs' as const }, 1],
    ] as const) {
      await frontier.openTask(settings(limit))
      equal((await frontier.stats(TASK)).pending, pending)
    }
    deepEqual(await drain(subject.store), ['near'])
  },

  'records what is too deep, and queues it when the limit is raised': async (subject) => {
    await begin(subject, [request('a'), request('b', { depth: 2 }), request('c', { depth: 5 })], { maxDepth: 1 })
    const { frontier } = subject.store
    deepEqual((await frontier.stats(TASK)).skipped, { depth: 2 })
    deepEqual(await drain(subject.store), ['a'])
    await frontier.openTask(settings({ maxDepth: 3 }))
    deepEqual(await drain(subject.store), ['b'])
    await frontier.openTask(settings())
    deepEqual(await drain(subject.store), ['c'])
  },

  'a lowered limit holds for what is already queued': async (subject) => {
    await begin(subject, [request('a'), request('b', { depth: 2 }), request('c', { depth: 5 })])
    await subject.store.frontier.openTask(settings({ maxDepth: 3 }))
    deepEqual(await drain(subject.store), ['a', 'b'])
    deepEqual((await subject.store.frontier.stats(TASK)).skipped, { depth: 1 })
  },
}

/** Settles the next lease as done with these links, each a step deeper than the lease said. */
async function visit(store: Store, links: readonly string[], known: readonly string[] = []): Promise<string> {
  const lease = await leaseOne(store)
  const depth = lease.request.depth + 1
  const discovered = links.map((name) => request(name, { depth }))
  const items = [{ data: { url: lease.url, depth: lease.request.depth }, isPage: true }]
  const knownLinks = known.map(fingerprintOf)
  await store.frontier.settle([settlement(lease, { discovered, items, knownLinks })])
  return lease.url
}

async function depthsOf(store: Store, names: readonly string[]): Promise<(number | undefined)[]> {
  const records = await Promise.all(names.map((name) => store.frontier.get(TASK, fingerprintOf(name))))
  return records.map((record) => record?.request.depth)
}

export const depthCases: SuiteCases = {
  '8. a shorter way to a settled page brings what it leads to nearer, without a fetch': async (subject) => {
    await begin(subject, [request('long', { depth: 2 })], { maxDepth: 4 })
    const { store } = subject
    await visit(store, ['x'])
    await visit(store, ['y'])
    await visit(store, ['z'])
    equal((await store.frontier.get(TASK, fingerprintOf('z')))?.reason, 'depth')
    deepEqual(await drain(store), [])
    deepEqual(await store.frontier.add([request('long', { depth: 1 })]), ['updated'])
    deepEqual(await depthsOf(store, ['long', 'x', 'y', 'z']), [1, 2, 3, 4])
    deepEqual(await drain(store), ['z'])
    const items = await store.items.read(TASK, 0, 10)
    deepEqual(
      items.map(({ json }) => (JSON.parse(json) as { depth: number }).depth),
      [1, 2, 3],
    )
  },

  '8. follows links that were known already, around cycles': async (subject) => {
    await begin(subject, [request('x', { depth: 3 }), request('y', { depth: 3 })], { maxDepth: 5 })
    const { store } = subject
    await visit(store, [], ['y', 'x'])
    await visit(store, [], ['x', 'nobody-knows-this'])
    await store.frontier.add([request('y')])
    deepEqual(await depthsOf(store, ['x', 'y']), [1, 0])
  },

  '8. a page that came nearer while it was leased passes its new depth on': async (subject) => {
    await begin(subject, [request('x', { depth: 3 })], { maxDepth: 3 })
    const { store } = subject
    const lease = await leaseOne(store)
    await store.frontier.add([request('x', { depth: 1 })])
    const items = [{ data: { depth: 3, url: lease.url }, isPage: true }, { data: { depth: 3 } }]
    await store.frontier.settle([settlement(lease, { discovered: [request('y', { depth: 4 })], items })])
    deepEqual(await depthsOf(store, ['x', 'y']), [1, 2])
    deepEqual(await paths(store), ['y'])
    const [page, other] = await store.items.read(TASK, 0, 10)
    deepEqual([page?.json, other?.json], [`{"depth":1,"url":"${lease.url}"}`, '{"depth":3}'])
  },

  '8. a page that came nearer while it was leased passes its new depth on to what was known already': async (
    subject,
  ) => {
    await begin(subject, [request('x', { depth: 3 }), request('y', { depth: 4 })], { maxDepth: 4 })
    const { store } = subject
    const lease = await leaseOne(store)
    equal(lease.url, 'http://h.test/x')
    await store.frontier.add([request('z', { depth: 5 })])
    await store.frontier.add([request('x', { depth: 1 })])
    await store.frontier.settle([settlement(lease, { knownLinks: ['y', 'z'].map(fingerprintOf) })])
    deepEqual(await depthsOf(store, ['x', 'y', 'z']), [1, 2, 2])
    deepEqual((await paths(store)).toSorted(), ['y', 'z'])
  },

  '8. counts every change of a readable item': async (subject) => {
    await begin(subject, [request('x', { depth: 2 })], { maxDepth: 3 })
    const { store } = subject
    const before = await store.items.revision(TASK)
    await visit(store, [])
    equal(await store.items.revision(TASK), before)
    await store.frontier.add([request('x', { depth: 1 })])
    equal(await store.items.revision(TASK), before + 1)
  },

  '8. a request that was too deep by one way is crawled by another': async (subject) => {
    await begin(subject, [request('a', { depth: 2 }), request('b')], { maxDepth: 2, order: 'dfs' })
    const { store } = subject
    await visit(store, ['t'])
    await visit(store, ['t'])
    deepEqual(await depthsOf(store, ['t']), [1])
    deepEqual(await paths(store), ['t'])
  },

  '8. refused for another reason first, a page still comes in reach when its parent comes nearer': async (subject) => {
    await begin(subject, [request('t', { depth: 1, skip: 'nofollow' }), request('p', { depth: 2 })], { maxDepth: 2 })
    const { store } = subject
    await visit(store, ['t'])
    equal((await store.frontier.get(TASK, fingerprintOf('t')))?.reason, 'depth')
    await store.frontier.add([request('p', { depth: 1 })])
    deepEqual(await paths(store), ['t'])
  },

  '8. long chains come nearer as a whole': async (subject) => {
    const length = 300
    await begin(subject, [request('c0', { depth: 5 })], { maxDepth: length + 5 })
    const { store } = subject
    for (let n = 1; n <= length; n++) await visit(store, [`c${n}`])
    await store.frontier.add([request('c0')])
    const [last] = await depthsOf(store, [`c${length}`])
    equal(last, length)
    const levels = await store.frontier.levels(TASK)
    deepEqual(
      [levels.length, levels[0]],
      [length + 1, { depth: 0, pending: 0, leased: 0, done: 1, failed: 0, skipped: 0 }],
    )
  },
}
