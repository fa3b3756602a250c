/** Cases of the known-set: what is added, what is known, what is revived. */

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { isCrawlError } from '../../core/errors.ts'
import { REVIVABLE_SKIPS } from '../../core/outcome.ts'
import { begin, drain, fingerprintOf, leaseOne, request, settings, settlement, TASK } from './subject.ts'
import type { SuiteCases } from './subject.ts'

export const knownCases: SuiteCases = {
  '1. adds a fingerprint once, also within one call': async (subject) => {
    await begin(subject, [])
    const { frontier } = subject.store
    deepEqual(await frontier.add([request('a'), request('a'), request('b')]), ['added', 'known', 'added'])
    deepEqual(await frontier.add([request('b'), request('a')]), ['known', 'known'])
    deepEqual(await drain(subject.store), ['a', 'b'])
    deepEqual(await frontier.add([request('a')]), ['known'])
    deepEqual(await drain(subject.store), [])
  },

  '1. keeps the known-sets of two tasks apart': async (subject) => {
    await begin(subject, [request('a')])
    await subject.store.frontier.openTask(settings({ name: 'other' }))
    deepEqual(await subject.store.frontier.add([request('a', { task: 'other' })]), ['added'])
    deepEqual(await subject.store.tasks(), ['other', TASK])
  },

  '1. answers updated when a request is nearer or more urgent now': async (subject) => {
    await begin(subject, [request('a', { depth: 3 })])
    const { frontier } = subject.store
    deepEqual(
      await frontier.add([
        request('a', { depth: 4 }),
        request('a', { depth: 2 }),
        request('a', { depth: 2, priority: 1 }),
        request('a', { depth: 5, priority: 1 }),
      ]),
      ['known', 'updated', 'updated', 'known'],
    )
    const { request: kept } = await leaseOne(subject.store)
    deepEqual([kept.depth, kept.priority], [2, 1])
  },

  '1. records a refused request, and gives it to nobody': async (subject) => {
    await begin(subject, [])
    const { frontier } = subject.store
    deepEqual(await frontier.add([request('a', { skip: 'scope' })]), ['added'])
    deepEqual(await drain(subject.store), [])
    const record = await frontier.get(TASK, fingerprintOf('a'))
    deepEqual([record?.state, record?.reason], ['skipped', 'scope'])
    deepEqual((await frontier.stats(TASK)).skipped, { scope: 1 })
  },

  '1. queues a refused request that is met again in reach, as it was met then': async (subject) => {
    await begin(subject, [])
    const { frontier } = subject.store
    for (const reason of REVIVABLE_SKIPS) {
      const name = `/${reason}`
      await frontier.add([request(name, { hostKey: 'h.test', url: 'http://h.test/old', skip: reason, depth: 1 })])
      deepEqual(await frontier.add([request(name, { hostKey: 'h.test', skip: reason })]), ['known'], reason)
      const again = request(name, { hostKey: 'h.test', url: `http://h.test${name}`, depth: 4, label: 'late' })
      deepEqual(await frontier.add([again]), ['added'], reason)
      const lease = await leaseOne(subject.store)
      deepEqual(lease.request, again)
      await frontier.settle([settlement(lease)])
    }
    deepEqual((await frontier.stats(TASK)).skipped, {})
  },

  '1. does not queue a duplicate again': async (subject) => {
    await begin(subject, [request('a', { skip: 'duplicate' })])
    deepEqual(await subject.store.frontier.add([request('a')]), ['known'])
    deepEqual(await drain(subject.store), [])
  },

  '1. a refusal takes nothing away from an accepted request': async (subject) => {
    await begin(subject, [request('a', { depth: 2 })])
    deepEqual(await subject.store.frontier.add([request('a', { depth: 0, skip: 'nofollow' })]), ['known'])
    equal((await leaseOne(subject.store)).request.depth, 2)
  },

  '9. gives back a request as it was added': async (subject) => {
    const whole = request('a/b?q=1', {
      depth: 2,
      priority: -3,
      label: 'detail',
      userData: { page: 1, deep: { list: [null, true, 'ä'] } },
      method: 'POST',
      headers: { 'X-A': 'b' },
      payload: 'x=1\u0000\u2028',
      cache: { mode: 'refresh', ttlMs: 0 },
    })
    const cached = request('c', { cache: { ttlMs: 60_000 } })
    await begin(subject, [whole, request('plain'), cached])
    deepEqual(
      new Set((await subject.store.frontier.lease({ tasks: [TASK], max: 9, leaseMs: 9 })).map((l) => l.request)),
      new Set([whole, request('plain'), cached]),
    )
    deepEqual((await subject.store.frontier.get(TASK, whole.fingerprint))?.request, whole)
  },

  '9. answers in the order of the arguments, in batches of any size': async (subject) => {
    await begin(subject, [])
    const { frontier } = subject.store
    const many = Array.from({ length: 3000 }, (_, n) => request(`${n % 7}.test/${n}`))
    ok((await frontier.add(many)).every((answer) => answer === 'added'))
    const mixed = many.flatMap((known, n) => (n % 100 === 0 ? [known, request(`new${n}`)] : [known]))
    const answers = await frontier.add(mixed)
    deepEqual(
      answers,
      mixed.map((each) => (each.url.includes('new') ? 'added' : 'known')),
    )
    deepEqual([await frontier.add([]), await frontier.settle([]), await frontier.renew([], 1)], [[], [], []])
  },

  'refuses a task that was begun with other rules of identity': async (subject) => {
    await begin(subject, [request('a')])
    await rejects(
      () => subject.store.frontier.openTask(settings({ identity: 'suite-2' })),
      (error) => isCrawlError(error, 'STORE_RULES_CHANGED'),
    )
    deepEqual(await drain(subject.store), ['a'])
  },

  'refuses requests of a task that nobody opened': async ({ store }) => {
    await rejects(
      () => store.frontier.add([request('a')]),
      (error) => isCrawlError(error, 'CONFIG_INVALID'),
    )
  },
}
