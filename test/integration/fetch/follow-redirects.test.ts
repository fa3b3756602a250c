import { afterEach, describe, expect, it } from 'vitest'

import { systemClock } from '../../../src/core/clock.ts'
import { createCookieJars } from '../../../src/fetch/cookies.ts'
import { followRedirects } from '../../../src/fetch/follow-redirects.ts'
import { withCookies } from '../../../src/fetch/with-cookies.ts'
import { closeAll, failureOf, open, response, serve } from './kit.ts'

afterEach(closeAll)

describe('following redirects', () => {
  it('tells each hop and ends at the final answer', async () => {
    await using site = await serve((request, answer) => {
      const next = { '/1': '/2', '/2': '3', '/3': '/end#frag' }[request.url ?? '']
      if (next === undefined) answer.end('end')
      else answer.writeHead(302, { location: next }).end('moved')
    })
    const { result, finalUrl, hops } = await followRedirects(open(), { url: `${site.url}/1`, allowPrivate: true })
    expect([response(result).status, finalUrl]).toEqual([200, `${site.url}/end`])
    expect(hops).toEqual([
      { url: `${site.url}/1`, status: 302, location: `${site.url}/2` },
      { url: `${site.url}/2`, status: 302, location: `${site.url}/3` },
      { url: `${site.url}/3`, status: 302, location: `${site.url}/end` },
    ])
  })

  it.each([
    ['/loop', 'a redirect loop', 1],
    ['/n0', 'more than 20 redirects', 21],
    ['/file', 'expected a Location with http or https', 1],
  ])('from %s ends with %s after few requests', async (path, words, requests) => {
    let count = 0
    await using site = await serve((request, answer) => {
      count++
      const url = request.url ?? ''
      const next = url === '/file' ? 'file:///etc/passwd' : url === '/loop' ? '/loop' : `/n${Number(url.slice(2)) + 1}`
      answer.writeHead(301, { location: next }).end()
    })
    const { result } = await followRedirects(open(), { url: site.url + path, allowPrivate: true })
    expect(failureOf(result)).toMatchObject({
      failure: 'redirects',
      status: 301,
      error: expect.stringContaining(words) as string,
    })
    expect(count).toBe(requests)
  })

  it('passes a cookie wall and changes cookies on the way', async () => {
    await using site = await serve((request, answer) => {
      const { cookie } = request.headers
      if (cookie === 'seen=2') answer.end('inside')
      else answer.writeHead(302, { location: '/wall', 'set-cookie': cookie === 'seen=1' ? 'seen=2' : 'seen=1' }).end()
    })
    const fetcher = withCookies(open(), createCookieJars({ clock: systemClock }))
    const { result, hops } = await followRedirects(fetcher, { url: `${site.url}/wall`, allowPrivate: true })
    expect([Buffer.from(response(result).body).toString(), hops.length]).toEqual(['inside', 2])
  })

  it('asks before each hop', async () => {
    await using site = await serve((_request, answer) => {
      answer.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
    })
    const options = { onHop: () => 'it leaves the host' }
    const { result } = await followRedirects(open(), { url: `${site.url}/`, allowPrivate: true }, options)
    expect(failureOf(result).error).toBe('it leaves the host')
  })

  it('turns a POST into a GET without its body, and leaves credentials behind at another origin', async () => {
    const seen: unknown[] = []
    await using other = await serve((request, answer) => {
      seen.push([
        request.method,
        request.headers.authorization,
        request.headers['x-own'],
        request.headers['content-length'],
      ])
      answer.end()
    })
    await using site = await serve((_request, answer) => {
      answer.writeHead(302, { location: other.url }).end()
    })
    const headers = { authorization: 'Basic x', 'x-own': '1', 'content-type': 'text/plain' }
    await followRedirects(open(), { url: `${site.url}/`, method: 'POST', body: 'x', headers, allowPrivate: true })
    expect(seen).toEqual([['GET', undefined, undefined, undefined]])
  })
})
