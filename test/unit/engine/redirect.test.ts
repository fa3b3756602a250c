import { describe, expect, it } from 'vitest'
import { createDoor } from '../../../src/engine/enqueue.ts'
import { followHop, hasTurnedToGet, hopOf, MAX_HOPS } from '../../../src/engine/redirect.ts'
import type { Lease } from '../../../src/frontier/contract.ts'
import { createScope } from '../../../src/url/scope.ts'
import { seededRandom } from '../../../src/util/random.ts'

const settings = {
  name: 't',
  order: 'bfs',
  delayMs: 0,
  loopbackDelayMs: 0,
  maxInFlightPerHost: 1,
  identity: 'whatwg',
} as const

function start(depth = 0) {
  const grown: string[] = []
  const door = createDoor({
    settings,
    scope: createScope({ kind: 'host' }),
    maxUrlBytes: 8192,
    obeyNofollow: true,
    random: seededRandom(1),
    onScopeGrown: (url) => grown.push(url),
  })
  const seed = door.admitSeed({ url: 'http://a.test/' })
  if ('problem' in seed) throw new Error(seed.problem)
  const lease = (url: string, hops: readonly string[] = []): Lease => ({
    id: '1',
    request: { ...seed, depth },
    url,
    hostKey: 'a.test',
    hops,
    attempt: 1,
    token: 'x',
    leasedAtMs: 0,
    expiresAtMs: 0,
    hostDown: false,
  })
  interface Step {
    readonly hops?: readonly string[]
    /** Those of this hop, and those that the next would send. */
    readonly cookies?: readonly [string, string]
    readonly turnsToGet?: boolean
  }
  const follow = (target: string, { hops = [], cookies = ['', ''], turnsToGet = false }: Step = {}) =>
    followHop({
      lease: lease('http://a.test/', hops),
      hop: hopOf('http://a.test/', cookies[0]),
      target,
      targetCookies: cookies[1],
      status: 302,
      turnsToGet,
      door,
    })
  return { grown, follow }
}

describe('a redirect hop', () => {
  it('leads on in scope', () => {
    expect(start().follow('http://a.test/b')).toMatchObject({ kind: 'redirected', to: { url: 'http://a.test/b' } })
  })

  it('back to itself without new cookies is a loop', () => {
    expect(start().follow('http://a.test/')).toMatchObject({ kind: 'failed', attempt: { failure: 'redirects' } })
  })

  it('back to itself with new cookies is a cookie wall', () => {
    expect(start().follow('http://a.test/', { cookies: ['', 'c1'] })).toMatchObject({ kind: 'redirected' })
  })

  it('back to an earlier hop with the cookies of then is a loop', () => {
    expect(start().follow('http://a.test/b', { hops: [hopOf('http://a.test/b', '')] })).toMatchObject({
      kind: 'failed',
    })
  })

  it('that turns a POST into a GET is remembered, and told from no loop', () => {
    const step = start()
    const post = step.follow('http://a.test/b', { turnsToGet: true })
    if (post.kind !== 'redirected') throw new Error(post.kind)
    expect(hasTurnedToGet([post.to.hop])).toBe(true)
    expect(hasTurnedToGet(['x http://a.test/GET '])).toBe(false)
    expect(step.follow('http://a.test/', { hops: [post.to.hop] })).toMatchObject({ kind: 'failed' })
  })

  it('is refused after twenty', () => {
    const hops = Array.from({ length: MAX_HOPS }, (_, index) => hopOf(`http://a.test/${index}`, ''))
    expect(start().follow('http://a.test/next', { hops })).toMatchObject({ kind: 'failed' })
    expect(start().follow('http://a.test/next', { hops: hops.slice(1) })).toMatchObject({ kind: 'redirected' })
  })

  it('of a seed to another host brings that host into scope', () => {
    const { follow, grown } = start()
    expect(follow('http://www.a.test/')).toMatchObject({ kind: 'redirected' })
    expect(grown).toEqual(['http://www.a.test/'])
  })

  it('of a link to another host is skipped', () => {
    expect(start(1).follow('http://b.test/')).toEqual({ kind: 'skipped', reason: 'scope' })
  })
})
