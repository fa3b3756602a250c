/** Nothing gets out of the browser but by the crawler's own fetcher: addresses, sockets, workers, names that change. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { openTestSite } from '../../../src/testing/site.ts'
import { chromium } from '../../support/chromium.ts'
import { html, json, openRenderKit, script, textOf } from './kit.ts'

/** Counts connections, whatever they say. */
async function listen(): Promise<AsyncDisposable & { readonly port: number; connections(): number }> {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => undefined)
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}

describe.skipIf(chromium === undefined)('a page in the browser', () => {
  it('reaches no private address that its crawl may not reach, by whatever way', async () => {
    await using inner = await listen()
    const to = `127.0.0.1:${inner.port}`
    await using site = await openTestSite({
      '/': html(`<img src="http://${to}/i.png"><link rel="stylesheet" href="http://${to}/s.css">
        <link rel="preconnect" href="http://${to}"><link rel="prefetch" href="http://${to}/p"><link rel="dns-prefetch" href="//localhost">
        <script src="http://${to}/s.js"></script><iframe src="http://${to}/f"></iframe>
        <object data="http://${to}/o"></object><video src="http://${to}/v.mp4"></video>
        <script type="speculationrules">{"prerender":[{"source":"list","urls":["http://${to}/pre"]}]}</script>
        <script>
          const ends = [fetch('http://${to}/f'), fetch('http://localhost:${inner.port}/'), fetch('http://[::ffff:127.0.0.1]:${inner.port}/'), fetch('/hop'), fetch('http://evil.test:${inner.port}/')]
          new WebSocket('ws://${to}/ws'); new EventSource('http://${to}/es'); navigator.sendBeacon('http://${to}/b', '1')
          open('http://${to}/popup')
          const worker = new Worker(URL.createObjectURL(new Blob(["fetch('http://${to}/w').catch(() => 0); new WebSocket('ws://${to}/ww')"])))
          navigator.serviceWorker?.register('/sw.js').catch(() => 0)
          Promise.allSettled(ends).then((all) => { document.title = all.map((end) => end.status).join() })
        </script>`),
      '/hop': { status: 302, headers: { location: `http://${to}/hopped` } },
      '/sw.js': script(`self.addEventListener('install', () => fetch('http://${to}/from-sw'))`),
    })
    await using kit = await openRenderKit({
      http: {
        resolver: {
          resolve: async (host) => [host === 'localhost' ? '127.0.0.1' : host === 'evil.test' ? '127.0.0.1' : host],
        },
      },
    })
    const own = new URL(site.origin).host
    const page = await kit.page(site.url('/'), { block: [], mayBePrivate: (url) => new URL(url).host === own })
    expect(textOf(page)).toContain('<title>rejected,rejected,rejected,rejected,rejected</title>')
    expect(inner.connections()).toBe(0)
    expect(site.requestsFor('/sw.js')).toEqual([])
  })

  it('is refused an address that a name turns into in between', async () => {
    await using inner = await listen()
    let asked = 0
    await using site = await openTestSite({
      '/': html(`<script>
        const get = () => fetch('http://rebind.test:${inner.port}/').then(() => 'came', () => 'refused')
        get().then((first) => get().then((second) => { document.title = first + ',' + second }))
      </script>`),
    })
    await using kit = await openRenderKit({
      // first an address that nobody answers at (TEST-NET-1), then this machine
      http: {
        connectTimeoutMs: 300,
        resolver: {
          resolve: async (host) => (host === 'rebind.test' ? [asked++ === 0 ? '192.0.2.1' : '127.0.0.1'] : [host]),
        },
      },
    })
    const page = await kit.page(site.url('/'), { mayBePrivate: () => false })
    expect(textOf(page)).toContain('<title>refused,refused</title>')
    expect(asked).toBe(2)
    expect(inner.connections()).toBe(0)
  })

  it('sends no packet by peer connections', async () => {
    const stun = createSocket('udp4')
    let packets = 0
    stun.on('message', () => packets++)
    stun.bind(0, '127.0.0.1')
    await once(stun, 'listening')
    await using site = await openTestSite({
      '/': html(`<script>(async () => {
        const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${stun.address().port}' }] })
        peer.createDataChannel('x'); await peer.setLocalDescription(await peer.createOffer())
        peer.onicegatheringstatechange = () => { if (peer.iceGatheringState === 'complete') document.body.innerHTML = '<b id="done"></b>' }
      })()</script>`),
    })
    await using kit = await openRenderKit()
    await kit.page(site.url('/'), { wait: { selector: '#done' } })
    stun.close()
    expect(packets).toBe(0)
  })

  it('asks other origins as browsers do: with a preflight, and without a right to read what is not for it', async () => {
    await using other = await openTestSite(({ path, method }) => {
      const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'x-key' }
      if (path === '/closed') return json('secret')
      return method === 'OPTIONS'
        ? { status: 204, headers }
        : { ...json('open'), headers: { ...headers, 'content-type': 'application/json' } }
    })
    await using site = await openTestSite({
      '/': html(`<script>
        const get = (path, init) => fetch('${other.origin}' + path, init).then((r) => r.json(), () => 'refused')
        Promise.all([get('/open', { headers: { 'x-key': '1' } }), get('/closed')]).then((all) => { document.title = all.join() })
      </script>`),
    })
    await using kit = await openRenderKit()
    expect(textOf(await kit.page(site.url('/')))).toContain('<title>open,refused</title>')
    expect(other.log.map(({ method, path }) => `${method} ${path}`)).toEqual(
      expect.arrayContaining(['OPTIONS /open', 'GET /open', 'GET /closed']),
    )
  })
})
