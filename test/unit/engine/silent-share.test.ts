import { expect, it } from 'vitest'
import { createSilentShare } from '../../../src/engine/silent-share.ts'
import type { SilentShare } from '../../../src/engine/silent-share.ts'
import type { Lease, Settlement } from '../../../src/frontier/contract.ts'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'

const LEASE: Lease = {
  id: '1',
  request: { task: 't', url: 'http://a.test/', fingerprint: 'a', hostKey: 'a.test', depth: 0, priority: 0 },
  url: 'http://a.test/',
  hostKey: 'a.test',
  hops: [],
  attempt: 1,
  token: '1',
  leasedAtMs: 0,
  expiresAtMs: 1,
  hostDown: false,
}
const SILENT: Lease = { ...LEASE, silent: true }

function begin(share: SilentShare, lease: Lease, times: number): void {
  for (let n = 0; n < times; n++) share.began(lease)
}

function ended(lease: Lease, links: number): Settlement {
  const outcome = { kind: 'done', status: 200, fromCache: false } as const
  const discovered = Array.from({ length: links }, () => lease.request)
  return { lease, outcome, discovered, items: [], host: { kind: 'answered' } }
}

function end(share: SilentShare, lease: Lease, times: number): void {
  for (let n = 0; n < times; n++) share.ended(ended(lease, 0))
}

it('silent hosts may take all places but one until one that has answered has more to give', () => {
  const share = createSilentShare(64, createFakeClock())
  expect(share.left()).toBe(63)
  begin(share, SILENT, 40)
  expect(share.left()).toBe(23)
  share.ended(ended(SILENT, 0))
  expect(share.left()).toBe(24)
  share.ended(ended(SILENT, 3))
  // one may be used now, and an eighth is kept for more
  expect(share.left()).toBe(64 - 9 - 38)
})

it('what hosts that answer use is kept for them, and given up slowly, but for one place', async () => {
  const clock = createFakeClock()
  const share = createSilentShare(64, clock)
  begin(share, LEASE, 30)
  end(share, LEASE, 30)
  expect(share.left()).toBe(64 - 38)
  await clock.advance(10_000)
  expect(share.left()).toBe(64 - 23)
  await clock.advance(3_600_000)
  expect(share.left()).toBe(63)
})

it('silent hosts are tried, too, whatever the others could use', () => {
  const share = createSilentShare(64, createFakeClock())
  begin(share, LEASE, 64)
  expect(share.left()).toBe(4)
  const single = createSilentShare(1, createFakeClock())
  single.began(LEASE)
  expect(single.left()).toBe(1)
})

it('a request beside politeness takes no place of either kind', () => {
  const share = createSilentShare(8, createFakeClock())
  share.began({ ...LEASE, unpaced: true })
  expect(share.left()).toBe(8)
})
