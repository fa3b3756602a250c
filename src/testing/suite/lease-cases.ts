/** Cases of leases: given once, fenced, renewed, taken back; hosts and page limits kept. */

import { deepEqual, equal, notEqual } from 'node:assert/strict'
import type { Lease, LeaseOptions } from '../../frontier/contract.ts'
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
import type { SuiteCases } from './subject.ts'

export const leaseCases: SuiteCases = {
  '2. gives a request to one lease at a time': async (subject) => {
    await begin(subject, [request('a'), request('b'), request('c')])
    const calls = await Promise.all([1, 2, 3, 4].map(() => paths(subject.store, { max: 2 })))
    deepEqual(calls.flat().toSorted(), ['a', 'b', 'c'])
  },

  '2. gives nothing of a host before its next time': async (subject) => {
    await begin(subject, [request('a'), request('b'), request('x.test/1')], { delayMs: 500 })
    const first = await leaseMany(subject.store)
    deepEqual(first.map((lease) => lease.hostKey).toSorted(), ['h.test', 'x.test'])
    await subject.store.frontier.settle(first.map((lease) => settlement(lease)))
    await subject.advance(400)
    deepEqual(await paths(subject.store), [])
    await subject.advance(150)
    deepEqual(await paths(subject.store), ['b'])
  },

  '2. moves the next time of a host along when a request went out late': async (subject) => {
    await begin(subject, [request('a'), request('b')], { delayMs: 500 })
    const first = await leaseMany(subject.store)
    await subject.advance(300)
    await subject.store.frontier.started(first)
    await subject.store.frontier.settle(first.map((lease) => settlement(lease)))
    await subject.advance(300)
    deepEqual(await paths(subject.store), [])
    await subject.advance(250)
    deepEqual(await paths(subject.store), ['b'])
  },

  '2. gives nothing of a host over its places': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c', 'd'].map((name) => request(name)),
      { maxInFlightPerHost: 2 },
    )
    const [first] = await leaseMany(subject.store)
    deepEqual(await paths(subject.store), [])
    if (first !== undefined) await subject.store.frontier.settle([settlement(first)])
    deepEqual(await paths(subject.store), ['c'])
  },

  '2. shares a host between tasks': async (subject) => {
    await begin(subject, [request('a')], { maxInFlightPerHost: 1 })
    await subject.store.frontier.openTask(settings({ name: 'other', maxInFlightPerHost: 1 }))
    await subject.store.frontier.add([request('b', { task: 'other' })])
    const both = { tasks: [TASK, 'other'] }
    const first = await leaseMany(subject.store, both)
    equal(first.length, 1)
    await subject.store.frontier.settle(first.map((lease) => settlement(lease)))
    equal((await leaseMany(subject.store, both)).length, 1)
  },

  '2. takes hosts in turn, so that a busy one starves nobody': async (subject) => {
    const busy = Array.from({ length: 50 }, (_, n) => request(`busy.test/${n}`))
    await begin(subject, [...busy, request('x.test/1'), request('y.test/1')])
    const hosts = (await leaseMany(subject.store, { max: 4 })).map((lease) => lease.hostKey)
    deepEqual(hosts.toSorted(), ['busy.test', 'busy.test', 'x.test', 'y.test'])
  },

  '3. an expired lease comes back with its attempt charged, and frees its place': async (subject) => {
    await begin(subject, [request('a'), request('b')], { maxInFlightPerHost: 1 })
    const held = await leaseOne(subject.store, { leaseMs: 1000 })
    equal(held.attempt, 1)
    await subject.advance(900)
    deepEqual(await paths(subject.store), [])
    await subject.advance(200)
    const again = await leaseOne(subject.store, { leaseMs: 1000 })
    deepEqual([again.id, again.attempt], [held.id, 2])
    notEqual(again.token, held.token)
  },

  '3. a renewed lease does not expire': async (subject) => {
    await begin(subject, [request('a')])
    const held = await leaseOne(subject.store, { leaseMs: 1000 })
    await subject.advance(800)
    deepEqual(await subject.store.frontier.renew([held], 1000), [true])
    await subject.advance(800)
    deepEqual(await paths(subject.store), [])
    deepEqual(await subject.store.frontier.settle([settlement(held)]), ['settled'])
  },

  '4. a lost lease settles nothing and cannot be renewed': async (subject) => {
    await begin(subject, [request('a')])
    const { frontier } = subject.store
    const lost = await leaseOne(subject.store, { leaseMs: 1000 })
    await subject.advance(1100)
    const held = await leaseOne(subject.store)
    const before = await frontier.stats(TASK)
    const late = settlement(lost, { discovered: [request('b')], items: [{ data: { a: 1 } }], counts: { bytes: 5 } })
    deepEqual(await frontier.settle([late]), ['lost'])
    deepEqual(await frontier.renew([lost, held], 1000), [false, true])
    deepEqual(await frontier.stats(TASK), before)
    deepEqual(await frontier.settle([late, settlement(held), settlement(held)]), ['lost', 'settled', 'lost'])
    equal((await frontier.get(TASK, fingerprintOf('a')))?.state, 'done')
    equal((await frontier.get(TASK, fingerprintOf('b')))?.state, undefined)
  },

  'a released request is as if it had never been leased': async (subject) => {
    await begin(subject, [request('a'), request('b')])
    const held = await leaseOne(subject.store)
    await subject.store.frontier.settle([settlement(held, { outcome: { kind: 'released' }, host: { kind: 'unused' } })])
    const again = await leaseOne(subject.store)
    deepEqual([again.id, again.attempt], [held.id, 1])
  },

  'a retried request comes back when its time has come': async (subject) => {
    await begin(subject, [request('a'), request('b')])
    const attempt = { failure: 'timeout', error: 'no answer within 1 s' } as const
    const retry = { kind: 'retry', attempt, retryInMs: 5000 } as const
    const { frontier } = subject.store
    await frontier.settle([settlement(await leaseOne(subject.store), { outcome: { ...retry, charged: true } })])
    deepEqual(await drain(subject.store), ['b'])
    equal((await frontier.stats(TASK)).pending, 1)
    await subject.advance(5100)
    const second = await leaseOne(subject.store)
    equal(second.attempt, 2)
    await frontier.settle([settlement(second, { outcome: { ...retry, retryInMs: 0, charged: false } })])
    equal((await leaseOne(subject.store)).attempt, 2)
    const record = await frontier.get(TASK, fingerprintOf('a'))
    deepEqual(
      record?.attempts.map(({ failure, error }) => ({ failure, error })),
      [attempt, attempt],
    )
  },

  'never lets done and leased exceed the page limit': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c', 'd', 'e'].map((name) => request(name)),
    )
    const { frontier } = subject.store
    const limit = { pageLimit: 3 }
    const [first, second, third, ...more] = await leaseMany(subject.store, limit)
    if (first === undefined || second === undefined || third === undefined) throw new Error('Expected three leases')
    equal(more.length, 0)
    await frontier.settle([settlement(first), settlement(second, { outcome: { kind: 'skipped', reason: 'robots' } })])
    deepEqual(await paths(subject.store, limit), ['d'])
    await frontier.settle([settlement(third)])
    deepEqual(await paths(subject.store, limit), [])
  },

  'a silent host is left alone, and its requests fail fast while it is down': async (subject) => {
    await begin(
      subject,
      Array.from({ length: 40 }, (_, n) => request(`${n}`)),
      { maxInFlightPerHost: 1 },
    )
    const { frontier } = subject.store
    let down = false
    for (let n = 0; n < 40 && !down; n++) {
      const [lease] = await leaseMany(subject.store, { max: 1 })
      if (lease === undefined) await subject.advance(1000)
      else {
        down = lease.hostDown
        const outcome = { kind: 'failed', attempt: { failure: 'connect', error: 'refused' } } as const
        await frontier.settle([settlement(lease, { outcome, host: down ? { kind: 'unused' } : { kind: 'silent' } })])
      }
    }
    equal(down, true)
    const next = await leaseMany(subject.store, { max: 1 })
    equal(next[0]?.hostDown, true)
  },

  '12. gives at most so many requests of silent hosts, and the rest to others, however many are due': async (
    subject,
  ) => {
    const untried = Array.from({ length: 200 }, (_, n) => request(`new${n}.test/1`))
    await begin(subject, [...untried, ...['a', 'b', 'c', 'd'].map((name) => request(name))])
    const first = await leaseMany(subject.store, { max: 5, maxSilent: 2 })
    deepEqual(namesOf(first.filter(({ silent }) => silent !== true)), ['a', 'b', 'c'])
    deepEqual(
      first.filter(({ silent }) => silent === true).map(({ hostKey }) => hostKey),
      ['new0.test', 'new1.test'],
    )
    deepEqual(await paths(subject.store, { max: 5, maxSilent: 0 }), ['d'])
    deepEqual(await paths(subject.store, { maxSilent: 0 }), [])
    equal((await leaseMany(subject.store, { maxSilent: 150 })).length, 150)
    equal((await leaseMany(subject.store)).length, 48)
  },

  '12. a host that gave no answer is silent again until it answers': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c'].map((name) => request(name)),
      { maxInFlightPerHost: 1 },
    )
    const { frontier } = subject.store
    const [sound] = await leaseMany(subject.store, { maxSilent: 0 })
    if (sound === undefined) throw new Error('Expected a lease of a host that had answered')
    equal(sound.silent, undefined)
    const outcome = { kind: 'failed', attempt: { failure: 'connect', error: 'refused' } } as const
    await frontier.settle([settlement(sound, { outcome, host: { kind: 'silent' } })])
    deepEqual(await paths(subject.store, { maxSilent: 0 }), [])
    const probe = await leaseOne(subject.store, { maxSilent: 1 })
    equal(probe.silent, true)
    await frontier.settle([settlement(probe)])
    deepEqual(await paths(subject.store, { maxSilent: 0 }), ['c'])
  },
}

const unpaced = (count: number): Partial<LeaseOptions> => ({ unpaced: new Map([['h.test', count]]) })
const namesOf = (leases: readonly Lease[]): string[] => leases.map(({ request: { url } }) => url.replace(/^.*\//, ''))

/** For stores that give leases beside politeness. */
export const unpacedCases: SuiteCases = {
  '10. gives so many requests of a host beside politeness, in their order, and says which': async (subject) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await begin(subject, [...names.map((name) => request(name)), request('x.test/1'), request('x.test/2')], {
      delayMs: 500,
      maxInFlightPerHost: 1,
    })
    const leases = await leaseMany(subject.store, { ...unpaced(3), max: 9 })
    deepEqual(namesOf(leases.filter(({ hostKey }) => hostKey === 'h.test')), ['a', 'b', 'c', 'd'])
    deepEqual(namesOf(leases.filter((lease) => lease.unpaced === true)), ['b', 'c', 'd'])
    deepEqual(await paths(subject.store), [])
    deepEqual(namesOf(await leaseMany(subject.store, { ...unpaced(9), max: 1 })), ['e'])
  },

  '10. the end of an unpaced lease frees no place and gives no time back': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c', 'd'].map((name) => request(name)),
      { delayMs: 500, maxInFlightPerHost: 1 },
    )
    const [paced, ...beside] = await leaseMany(subject.store, unpaced(2))
    if (paced === undefined) throw new Error('Expected a lease')
    equal(paced.unpaced, undefined)
    const { frontier } = subject.store
    const [hit, miss] = beside
    if (hit === undefined || miss === undefined) throw new Error('Expected two leases beside politeness')
    const unused = { host: { kind: 'unused' } } as const
    await frontier.settle([settlement(hit, unused), settlement(miss, { ...unused, outcome: { kind: 'released' } })])
    await subject.advance(600)
    deepEqual(await paths(subject.store), [], 'the place of the first request is still taken')
    await frontier.settle([settlement(paced)])
    const next = await leaseMany(subject.store)
    deepEqual([namesOf(next), next[0]?.attempt], [['c'], 1])
    deepEqual(await paths(subject.store), [], 'its delay begins anew')
  },

  '10. an unpaced lease that expires comes back and frees no place': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c'].map((name) => request(name)),
      { maxInFlightPerHost: 1 },
    )
    const [paced] = await leaseMany(subject.store, { leaseMs: 60_000 })
    const beside = await leaseMany(subject.store, { ...unpaced(1), leaseMs: 1000 })
    deepEqual(namesOf(beside), ['b'])
    await subject.advance(1100)
    deepEqual(await paths(subject.store), [])
    if (paced !== undefined) await subject.store.frontier.settle([settlement(paced)])
    deepEqual(await paths(subject.store), ['b'])
    deepEqual(await subject.store.verify(), [])
  },

  '12. what is given beside politeness is not counted among those of silent hosts': async (subject) => {
    await begin(subject, [request('new.test/1'), request('new.test/2')], { delayMs: 500 })
    const beside = { unpaced: new Map([['new.test', 5]]) }
    deepEqual(await paths(subject.store, { ...beside, maxSilent: 0 }), [], 'it could be sent, and must not')
    const both = await leaseMany(subject.store, { ...beside, maxSilent: 1 })
    deepEqual(
      both.map(({ silent, unpaced: isBeside }) => [silent, isBeside]),
      [
        [true, undefined],
        [undefined, true],
      ],
    )
  },

  '10. gives nothing beside politeness over the page limit': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c', 'd'].map((name) => request(name)),
      { maxInFlightPerHost: 1 },
    )
    equal((await leaseMany(subject.store, { ...unpaced(9), pageLimit: 3 })).length, 3)
  },
}
