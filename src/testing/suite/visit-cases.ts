/** Cases of the frontier suite: what is remembered of the looks at a page, and requests named by their ids. */

import { deepEqual, equal } from 'node:assert/strict'
import type { SuiteCases } from './subject.ts'
import { begin, fingerprintOf, leaseMany, leaseOne, paths, request, settlement, TASK } from './subject.ts'

const failed = { kind: 'failed', attempt: { failure: 'http-4xx', status: 404, error: 'HTTP 404' } } as const

/** For stores that keep visits. */
export const visitCases: SuiteCases = {
  '11. keeps what a settlement says to remember, until another one says something else': async (subject) => {
    await begin(subject, [request('a')])
    const { frontier } = subject.store
    const lease = await leaseOne(subject.store)
    equal(lease.visit, undefined)
    await frontier.settle([settlement(lease, { visit: 'first.1' })])
    equal((await frontier.get(TASK, fingerprintOf('a')))?.visit, 'first.1')

    await frontier.requeue({ task: TASK })
    const again = await leaseOne(subject.store)
    equal(again.visit, 'first.1')
    await frontier.settle([settlement(again, { outcome: failed })])
    equal((await frontier.get(TASK, fingerprintOf('a')))?.visit, 'first.1', 'a failure said nothing')

    await frontier.requeue({ task: TASK })
    await frontier.settle([settlement(await leaseOne(subject.store), { outcome: failed, visit: 'gone.2' })])
    await frontier.requeue({ task: TASK })
    equal((await leaseOne(subject.store)).visit, 'gone.2')
  },

  '11. keeps it over a retry, and with others in one step': async (subject) => {
    await begin(subject, [request('a'), request('b')])
    const { frontier } = subject.store
    const [a, b] = await leaseMany(subject.store)
    if (a === undefined || b === undefined) throw new Error('Expected two leases')
    await frontier.settle([settlement(a, { visit: 'of a' }), settlement(b)])
    await frontier.requeue({ task: TASK })
    const retry = { failure: 'reset', error: 'reset' } as const
    const first = await leaseMany(subject.store)
    await frontier.settle(
      first.map((lease) =>
        settlement(lease, { outcome: { kind: 'retry', attempt: retry, retryInMs: 0, charged: true } }),
      ),
    )
    deepEqual(
      (await leaseMany(subject.store)).map(({ visit }) => visit),
      ['of a', undefined],
    )
  },

  'puts back only the settled requests that are named': async (subject) => {
    await begin(
      subject,
      ['a', 'b', 'c', 'd'].map((name) => request(name)),
    )
    const { frontier } = subject.store
    const leases = await leaseMany(subject.store, { max: 3 })
    await frontier.settle(leases.map((lease) => settlement(lease)))
    const idOf = async (name: string): Promise<string> => (await frontier.get(TASK, fingerprintOf(name)))?.id ?? ''
    const ids = await Promise.all(['a', 'c', 'd'].map(idOf))
    equal(await frontier.requeue({ task: TASK, ids }), 2)
    deepEqual(await paths(subject.store), ['a', 'c', 'd'])
    equal(await frontier.requeue({ task: TASK, ids: [] }), 0)
    deepEqual(await subject.store.verify(), [])
  },
}
