/** What a rendered page sends: through proxies and rules, with the crawl's cookies, agent and manners. */

import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { openTestSite } from '../../../src/testing/site.ts'
import { chromium } from '../../support/chromium.ts'
import { TEST_CERTIFICATE, TEST_KEY } from '../fetch/certificate.ts'
import { startHttpProxy } from '../fetch/proxy-server.ts'
import { html, json, openRenderKit, textOf } from './kit.ts'

const FETCHES = `<script>fetch('/api').then((r) => r.json()).then((v) => { document.title = 'got ' + v })</script>`

describe.skipIf(chromium === undefined)('what a rendered page asks for', () => {
  it('goes through the proxy, and by --connect-to', async () => {
    await using site = await openTestSite({ '/': html(FETCHES), '/api': json(1) })
    await using proxy = await startHttpProxy({ to: site.port })
    await using proxied = await openRenderKit({ http: { proxies: [`http://127.0.0.1:${proxy.port}`] } })
    expect(textOf(await proxied.page('http://shop.test/'))).toContain('got 1')
    expect(proxy.asked).toEqual(['GET http://shop.test/', 'GET http://shop.test/api'])
    await using connected = await openRenderKit({ http: { connectTo: [`shop.test:80:127.0.0.1:${site.port}`] } })
    expect(textOf(await connected.page('http://shop.test/'))).toContain('got 1')
  })

  it('goes over TLS as the crawl has it, with --insecure or without', async () => {
    const server = https.createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (request, answer) => {
      const { headers, body } = request.url === '/' ? html(FETCHES) : json(isSecure)
      answer.writeHead(200, headers).end(body)
    })
    const isSecure = 'secure'
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await using insecure = await openRenderKit({ http: { insecure: true } })
    expect(textOf(await insecure.page(url))).toContain('got secure')
    await using strict = await openRenderKit()
    expect(await strict.failure(url)).toMatchObject({ failure: 'tls' })
    server.closeAllConnections()
    server.close()
  })

  it('carries the cookies of the crawl to its own site, brings back what it sets, and gives others none', async () => {
    const seen = 'document.title = document.cookie'
    await using other = await openTestSite(() => ({
      ...json(1),
      headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json', 'set-cookie': 'tracker=1' },
    }))
    await using site = await openTestSite({
      '/': html(
        `<script>${seen}; document.cookie = 'made=by-script; path=/'; fetch('/api').then(() => fetch('http://other.test:${other.port}/t'))</script>`,
        { 'set-cookie': 'page=1' },
      ),
      '/api': { ...json(1), headers: { 'content-type': 'application/json', 'set-cookie': 'api=1; HttpOnly' } },
    })
    await using kit = await openRenderKit({
      http: { connectTo: [`shop.test:80:127.0.0.1:${site.port}`, `other.test:${other.port}:127.0.0.1:${other.port}`] },
    })
    const session = 'crawl'
    kit.jars.receive(session, 'http://shop.test/', ['login=secret; HttpOnly; Path=/', 'plain=1; Path=/'])
    kit.jars.receive(session, `http://other.test:${other.port}/`, ['others=own'])
    const page = await kit.page('http://shop.test/', {}, { session })
    expect(textOf(page)).toMatch(/<title>(?=.*plain=1)(?=.*page=1)(?!.*login)[^<]*<\/title>/)
    const sent = site.requestsFor('/api')[0]?.headers.cookie?.split('; ').toSorted()
    expect(sent).toEqual(['login=secret', 'made=by-script', 'page=1', 'plain=1'])
    expect(other.log.map(({ headers }) => headers.cookie)).toEqual([undefined])
    const kept = kit.jars.headerFor(session, 'http://shop.test/')?.split('; ').toSorted()
    expect(kept).toEqual(['api=1', 'login=secret', 'made=by-script', 'page=1', 'plain=1'])
    expect(kit.jars.headerFor(session, `http://other.test:${other.port}/`)).toBe('others=own')
  })

  it('shows the agent of the crawl, to servers and to scripts, and the user’s headers to its own origin', async () => {
    await using other = await openTestSite(() => ({ ...json(1), headers: { 'access-control-allow-origin': '*' } }))
    await using site = await openTestSite({
      '/': html(`<script>document.title = navigator.userAgent; fetch('/api'); fetch('${other.origin}/x')</script>`),
    })
    await using kit = await openRenderKit()
    const page = await kit.page(site.url('/'), {}, { headers: { authorization: 'Bearer 1', 'if-none-match': '"x"' } })
    expect(textOf(page)).toContain('<title>spoor/0</title>')
    expect(site.requestsFor('/api')[0]?.headers).toMatchObject({ 'user-agent': 'spoor/0', authorization: 'Bearer 1' })
    expect(site.requestsFor('/api')[0]?.headers['if-none-match']).toBeUndefined()
    expect(other.log[0]?.headers.authorization).toBeUndefined()
  })

  it('sends one request at a time to its own host, and data requests apart', async () => {
    const DELAY_MS = 150
    await using site = await openTestSite(({ path }) =>
      path === '/'
        ? html(`<script>for (let n = 0; n < 5; n++) fetch('/api/' + n)</script>`)
        : { ...json(1), delayMs: 50 },
    )
    await using kit = await openRenderKit({ browser: { loopbackDelayMs: DELAY_MS } })
    await kit.page(site.url('/'))
    const starts = site.log.map(({ atMs }) => atMs)
    expect(Math.max(...site.log.map(({ hostInFlight }) => hostInFlight))).toBe(1)
    expect(starts.length).toBe(6)
    // the document may have come long before its script ran; arrivals differ by some milliseconds
    expect((starts.at(-1) ?? 0) - (starts[1] ?? 0)).toBeGreaterThan(4 * DELAY_MS - 30)
  })

  it('is bounded: a body over --max-body does not come, nor a method that changes things', async () => {
    await using site = await openTestSite({
      '/': html(`<script>
        const ask = (path, init) => fetch(path, init).then((r) => r.text()).then((t) => t.length, () => 'refused')
        Promise.all([ask('/big'), ask('/post', { method: 'POST', body: 'a=1' }), ask('/delete', { method: 'DELETE' })])
          .then((all) => { document.title = all.join() })
      </script>`),
      '/big': { body: 'x'.repeat(200_000) },
      '/post': { body: 'ok' },
    })
    await using kit = await openRenderKit()
    const page = await kit.page(site.url('/'), {}, { maxBodyBytes: 100_000 })
    expect(textOf(page)).toContain('<title>refused,2,refused</title>')
    expect(site.requestsFor('/delete')).toEqual([])
    expect(site.requestsFor('/post')[0]?.method).toBe('POST')
  })
})
