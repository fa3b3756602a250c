/** Cases of what can be asked: counts, levels, records, lists, requeue, clear, and the end. */

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import type { Outcome } from '../../core/outcome.ts'
import type { HostRecord } from '../../frontier/contract.ts'
import type { Store } from '../../stores/contract.ts'
import { begin, drain, fingerprintOf, leaseMany, leaseOne, request, settings, settlement, TASK } from './subject.ts'
import type { SuiteCases } from './subject.ts'

const failure = { failure: 'http-5xx', error: 'expected 200, found 503', status: 503 } as const
const failed: Outcome = { kind: 'failed', attempt: failure }

/** a done, b failed, c skipped by settlement, d refused, e pending, f leased. */
async function everyState(store: Store): Promise<void> {
  const leases = await leaseMany(store, { max: 4 })
  const outcomes: (Outcome | undefined)[] = [
    { kind: 'done', status: 204, fromCache: false },
    failed,
    { kind: 'skipped', reason: 'robots' },
    undefined,
  ]
  await store.frontier.settle(
    leases.flatMap((lease, n) => {
      const outcome = outcomes[n]
      return outcome === undefined ? [] : [settlement(lease, { outcome, counts: { bytes: 10, requests: 1 } })]
    }),
  )
}

const six = [
  request('a'),
  request('b'),
  request('c', { depth: 1 }),
  request('f', { depth: 1 }),
  request('d', { depth: 2, skip: 'filtered' }),
  request('e', { depth: 2 }),
]

/** Of a host that was never asked. */
const untouched = {
  inFlight: 0,
  crawlDelayMs: 0,
  backoffStep: 0,
  silentFailures: 0,
  nextInMs: 0,
  delayMs: 5000,
  downForMs: 0,
}

export const queryCases: SuiteCases = {
  '7. known = pending + leased + done + failed + skipped': async (subject) => {
    await begin(subject, six)
    await everyState(subject.store)
    const stats = await subject.store.frontier.stats(TASK)
    const zeros = Object.fromEntries(Object.keys(stats.counters).map((name) => [name, 0]))
    deepEqual(stats, {
      known: 6,
      pending: 1,
      leased: 1,
      done: 1,
      failed: 1,
      skipped: { robots: 1, filtered: 1 },
      hosts: 1,
      items: 0,
      counters: { ...zeros, bytes: 30, requests: 3 },
    })
    deepEqual(await subject.store.frontier.levels(TASK), [
      { depth: 0, pending: 0, leased: 0, done: 1, failed: 1, skipped: 0 },
      { depth: 1, pending: 0, leased: 1, done: 0, failed: 0, skipped: 1 },
      { depth: 2, pending: 1, leased: 0, done: 0, failed: 0, skipped: 1 },
    ])
    deepEqual(await subject.store.verify(), [])
  },

  'lists the hosts of a task page by page, with what keeps them waiting': async (subject) => {
    const names = Array.from({ length: 7 }, (_, n) => `host${n}.test`)
    const queued = names.map((name) => request(`${name}/a`))
    await begin(subject, [...queued, request('host0.test/b'), request('gone.test/x', { skip: 'scope' })], {
      delayMs: 5000,
    })
    const { frontier } = subject.store
    const lease = await leaseOne(subject.store)
    const retry: Outcome = { kind: 'retry', attempt: failure, retryInMs: 60_000, charged: true }
    await frontier.settle([settlement(lease, { outcome: retry, host: { kind: 'throttled', retryAfterMs: 60_000 } })])
    const hosts: HostRecord[] = []
    let after: string | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop -- page by page
      const page = await frontier.hosts(TASK, { max: 3, ...(after === undefined ? {} : { after }) })
      hosts.push(...page.hosts)
      after = page.next
    } while (after !== undefined)
    deepEqual(hosts.map(({ hostKey }) => hostKey).toSorted(), names)
    const busy = hosts.find(({ hostKey }) => hostKey === lease.hostKey)
    ok((busy?.nextInMs ?? 0) > 50_000, `expected the host to be left alone for a minute, found ${busy?.nextInMs} ms`)
    deepEqual(
      // of a clock that begins at 0 its first step cannot be told from none
      { ...busy, nextInMs: 0, backoffStep: 0 },
      { ...untouched, hostKey: lease.hostKey, ready: lease.hostKey === 'host0.test' ? 1 : 0 },
    )
    deepEqual(
      hosts.find(({ hostKey }) => hostKey === 'host3.test'),
      { ...untouched, hostKey: 'host3.test', ready: 1 },
    )
  },

  'knows everything of one request': async (subject) => {
    await begin(subject, six)
    await everyState(subject.store)
    const { frontier } = subject.store
    const record = await frontier.get(TASK, fingerprintOf('b'))
    deepEqual([record?.state, record?.reason, record?.status], ['failed', 'http-5xx', 503])
    const [attempt] = record?.attempts ?? []
    match(attempt?.at ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    deepEqual({ ...attempt, at: '' }, { ...failure, at: '' })
    equal((await frontier.get(TASK, fingerprintOf('e')))?.state, 'pending')
    equal((await frontier.get(TASK, fingerprintOf('f')))?.state, 'leased')
    equal(await frontier.get(TASK, fingerprintOf('nobody')), undefined)
  },

  'knows the parent of a discovered request': async (subject) => {
    await begin(subject, [request('a')])
    const { frontier } = subject.store
    const discovered = [request('x.test/b', { depth: 1 }), request('no', { depth: 1, skip: 'nofollow' })]
    await frontier.settle([settlement(await leaseOne(subject.store), { discovered })])
    equal((await frontier.get(TASK, fingerprintOf('x.test/b')))?.parentUrl, 'http://h.test/a')
    equal((await frontier.get(TASK, fingerprintOf('no')))?.parentUrl, 'http://h.test/a')
    equal((await frontier.stats(TASK)).hosts, 2)
  },

  'lists by every part of the filter, page by page, in the order of ids': async (subject) => {
    await begin(subject, [...six, request('x.test/g')])
    await everyState(subject.store)
    const names = async (fields: object): Promise<string[]> =>
      (await subject.store.frontier.list({ task: TASK, ...fields }, { max: 100 })).records.map((r) =>
        r.request.url.slice(7),
      )
    deepEqual(await names({ state: 'skipped', reason: 'filtered' }), ['h.test/d'])
    deepEqual(await names({ status: 503 }), await names({ state: 'failed' }))
    deepEqual(await names({ state: 'pending', depth: 2 }), ['h.test/e'])
    equal((await names({ state: 'leased' })).length, 1)
    deepEqual(await names({ hostKey: 'x.test' }), ['x.test/g'])
    const all: string[] = []
    let after: string | undefined
    for (let n = 0; n < 9; n++) {
      const page = await subject.store.frontier.list(
        { task: TASK },
        { max: 3, ...(after === undefined ? {} : { after }) },
      )
      all.push(...page.records.map((record) => record.request.url.slice(7)))
      after = page.next
      if (after === undefined) break
    }
    deepEqual(all, await names({}))
    equal(all.length, 7)
  },

  'requeue puts settled requests back with no attempt charged, and keeps their history': async (subject) => {
    await begin(subject, six)
    await everyState(subject.store)
    const { frontier } = subject.store
    equal(await frontier.requeue({ task: TASK, state: 'failed', status: 404 }), 0)
    equal(await frontier.requeue({ task: TASK, state: 'failed' }), 1)
    const again = await leaseOne(subject.store)
    deepEqual([again.url, again.attempt], ['http://h.test/b', 1])
    await frontier.settle([settlement(again, { outcome: failed })])
    equal((await frontier.get(TASK, fingerprintOf('b')))?.attempts.length, 2)
    equal(await frontier.requeue({ task: TASK }), 2)
    equal((await frontier.stats(TASK)).done, 0)
    equal(await frontier.requeue({ task: TASK, state: 'skipped', reason: 'robots' }), 1)
    deepEqual(await subject.store.verify(), [])
  },

  'a page that is crawled again replaces its item': async (subject) => {
    await begin(subject, [request('a')])
    const { frontier, items } = subject.store
    await frontier.settle([settlement(await leaseOne(subject.store), { items: [{ data: { v: 1 } }] })])
    const before = await items.revision(TASK)
    await frontier.requeue({ task: TASK, state: 'done' })
    equal((await items.read(TASK, 0, 9)).length, 1)
    await frontier.settle([settlement(await leaseOne(subject.store), { items: [{ data: { v: 2 } }] })])
    deepEqual(
      (await items.read(TASK, 0, 9)).map(({ json }) => json),
      ['{"v":2}'],
    )
    ok((await items.revision(TASK)) > before)
    equal((await frontier.stats(TASK)).items, 1)
  },

  'clear forgets the task, not the hosts’ politeness': async (subject) => {
    await begin(subject, [request('a'), request('b')], { maxInFlightPerHost: 1 })
    const { frontier, items } = subject.store
    const throttled = { kind: 'throttled', retryAfterMs: 10_000 } as const
    const first = await leaseOne(subject.store)
    await frontier.settle([settlement(first, { items: [{ data: {} }], host: throttled })])
    await frontier.clear(TASK)
    deepEqual(await subject.store.tasks(), [])
    await begin(subject, [request('a')], { identity: 'suite-2' })
    deepEqual((await frontier.stats(TASK)).known, 1)
    deepEqual(await items.read(TASK, 0, 9), [])
    deepEqual(await drain(subject.store), [])
    await subject.advance(10_100)
    deepEqual(await drain(subject.store), ['a'])
    deepEqual(await subject.store.verify(), [])
  },

  '4. a lease of a task that was cleared is lost': async (subject) => {
    await begin(subject, [request('a')])
    const held = await leaseOne(subject.store)
    await subject.store.frontier.clear(TASK)
    await begin(subject, [request('a')])
    deepEqual(await subject.store.frontier.settle([settlement(held)]), ['lost'])
    equal((await leaseMany(subject.store)).length, 1)
    deepEqual(await subject.store.verify(), [])
  },
}

/** Whether the promise is still open after everything that can run has run. */
async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open')
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve))
  return (await Promise.race([promise, Promise.resolve(open)])) === open
}

export const waitCases: SuiteCases = {
  'waitForWork: ready when there is work, finished when there is none anywhere': async (subject) => {
    await begin(subject, [request('a')])
    const { frontier } = subject.store
    const { signal } = new AbortController()
    equal(await frontier.waitForWork({ tasks: [TASK] }, signal), 'ready')
    const held = await leaseOne(subject.store)
    const waiting = frontier.waitForWork({ tasks: [TASK] }, signal)
    ok(await isWaiting(waiting))
    await frontier.settle([settlement(held)])
    equal(await waiting, 'finished')
  },

  'waitForWork: wakes when a request is added': async (subject) => {
    await begin(subject, [request('a')])
    const { frontier } = subject.store
    await leaseOne(subject.store)
    const waiting = frontier.waitForWork({ tasks: [TASK] }, new AbortController().signal)
    await frontier.add([request('b')])
    equal(await waiting, 'ready')
  },

  'waitForWork: wakes when a host, a retry or an expired lease is due': async (subject) => {
    await begin(subject, [request('a'), request('b')], { delayMs: 2000, maxInFlightPerHost: 1 })
    const { frontier } = subject.store
    const { signal } = new AbortController()
    const wait = (): Promise<string> => frontier.waitForWork({ tasks: [TASK] }, signal)
    await frontier.settle([settlement(await leaseOne(subject.store))])
    const host = wait()
    ok(await isWaiting(host))
    await subject.advance(2100)
    equal(await host, 'ready')
    const held = await leaseOne(subject.store, { leaseMs: 3000 })
    const expiry = wait()
    await subject.advance(3100)
    equal(await expiry, 'ready')
    deepEqual(await frontier.settle([settlement(held)]), ['settled'])
    await frontier.add([request('c')])
    const outcome: Outcome = { kind: 'retry', attempt: failure, retryInMs: 4000, charged: true }
    await subject.advance(2100)
    await frontier.settle([settlement(await leaseOne(subject.store), { outcome })])
    const retry = wait()
    await subject.advance(2000)
    ok(await isWaiting(retry))
    await subject.advance(2100)
    equal(await retry, 'ready')
  },

  '12. waitForWork: silent hosts that are due wake nobody who may have none of them': async (subject) => {
    await begin(subject, [request('new.test/1'), request('a'), request('b')], { delayMs: 2000, maxInFlightPerHost: 1 })
    const { frontier } = subject.store
    const { signal } = new AbortController()
    const wait = (maxSilent: number): Promise<string> => frontier.waitForWork({ tasks: [TASK], maxSilent }, signal)
    await frontier.settle([settlement(await leaseOne(subject.store, { maxSilent: 0 }))])
    equal(await wait(1), 'ready')
    const others = wait(0)
    ok(await isWaiting(others))
    await subject.advance(2100)
    equal(await others, 'ready')
    await frontier.settle([settlement(await leaseOne(subject.store, { maxSilent: 0 }))])
    const end = wait(0)
    await frontier.settle([settlement(await leaseOne(subject.store, { maxSilent: 1 }))])
    equal(await end, 'finished')
  },

  'waitForWork: the page limit ends the wait once nothing is leased': async (subject) => {
    await begin(subject, [request('a'), request('b')])
    const { frontier } = subject.store
    const held = await leaseOne(subject.store)
    const waiting = frontier.waitForWork({ tasks: [TASK], pageLimit: 1 }, new AbortController().signal)
    ok(await isWaiting(waiting))
    await frontier.settle([settlement(held)])
    equal(await waiting, 'finished')
  },

  'waitForWork: an abort ends the wait, also one from before': async (subject) => {
    await begin(subject, [request('a')])
    await leaseOne(subject.store)
    const abort = new AbortController()
    const waiting = subject.store.frontier.waitForWork({ tasks: [TASK] }, abort.signal)
    ok(await isWaiting(waiting))
    abort.abort()
    equal(await waiting, 'aborted')
    equal(await subject.store.frontier.waitForWork({ tasks: [TASK] }, abort.signal), 'aborted')
  },

  'waitForWork: several tasks end together': async (subject) => {
    await begin(subject, [])
    await subject.store.frontier.openTask(settings({ name: 'other' }))
    await subject.store.frontier.add([request('x', { task: 'other' })])
    const { signal } = new AbortController()
    equal(await subject.store.frontier.waitForWork({ tasks: [TASK] }, signal), 'finished')
    equal(await subject.store.frontier.waitForWork({ tasks: [TASK, 'other'] }, signal), 'ready')
  },
}
