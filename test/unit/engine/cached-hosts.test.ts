/** How many requests of a host are looked at beside politeness: more with each hit, none after a miss. */

import { expect, it } from 'vitest'
import { createCachedHosts } from '../../../src/engine/cached-hosts.ts'
import type { Settlement } from '../../../src/frontier/contract.ts'

const settled = (hostKey: string, how: 'hit' | 'fetched' | 'miss' | 'released'): Settlement => {
  const beside = how === 'miss' ? { unpaced: true as const } : {}
  const lease = { hostKey, ...beside } as Settlement['lease']
  const rest = { lease, discovered: [], items: [] }
  if (how === 'hit') {
    return {
      ...rest,
      outcome: { kind: 'done', status: 200, fromCache: true },
      host: { kind: 'unused' },
      counts: { fromCache: 1 },
    }
  }
  if (how === 'fetched')
    return { ...rest, outcome: { kind: 'done', status: 200, fromCache: false }, host: { kind: 'answered' } }
  return { ...rest, outcome: { kind: 'released' }, host: { kind: 'unused' } }
}

it('gives nothing to a crawl that hits nothing', () => {
  const hosts = createCachedHosts(8)
  hosts.note(settled('a.test', 'fetched'))
  hosts.note(settled('a.test', 'released'))
  expect(hosts.allowance()).toBeUndefined()
})

it('grows with the hits of a host up to its bound, and ends with a page that is not there', () => {
  const hosts = createCachedHosts(6)
  for (const count of [4, 5, 6, 6]) {
    hosts.note(settled('a.test', 'hit'))
    expect(hosts.allowance()?.get('a.test')).toBe(count)
  }
  hosts.note(settled('a.test', 'fetched'))
  expect(hosts.allowance()?.get('a.test')).toBe(6)
  hosts.note(settled('a.test', 'miss'))
  expect(hosts.allowance()).toBeUndefined()
})

it('remembers so many hosts that each lease may look at all of them', () => {
  const hosts = createCachedHosts(6)
  for (let n = 0; n < 1000; n += 1) hosts.note(settled(`${n}.test`, 'hit'))
  expect(hosts.allowance()?.size).toBe(64)
  expect(hosts.allowance()?.has('999.test')).toBe(true)
})
