/** Single-page sites in a real Chromium: what scripts make of a page is what the crawl sees. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { headerOf } from '../../../src/fetch/headers.ts'
import { renderedFilesOf } from '../../../src/fetch/rendered.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { chromium } from '../../support/chromium.ts'
import { html, json, openRenderKit, type RenderKit, script, textOf } from './kit.ts'

describe.skipIf(chromium === undefined)('a page rendered in Chromium', () => {
  let kit: RenderKit
  beforeAll(async () => {
    kit = await openRenderKit()
  })
  afterAll(async () => {
    await kit[Symbol.asyncDispose]()
  })

  it('holds the list that its scripts fetch, and asks for each thing once', async () => {
    await using site = await openTestSite({
      '/': html('<div id="root"></div><script src="/app.js"></script>'),
      '/app.js': script(`fetch('/api/items').then((r) => r.json()).then((list) => {
        document.querySelector('#root').innerHTML = list.map((n) => '<a href="/item/' + n + '">' + n + '</a>').join('')
      })`),
      '/api/items': json([1, 2, 3]),
    })
    const page = await kit.page(site.url('/'))
    expect(textOf(page)).toContain('<a href="/item/3">3</a>')
    expect(headerOf(page.headers, 'content-type')).toBe('text/html; charset=utf-8')
    expect(renderedFilesOf(page.headers)).toEqual({})
    expect(site.log.map(({ path }) => path)).toEqual(['/', '/app.js', '/api/items'])
  })

  it('waits through a chain of requests, each made of the answer before it', async () => {
    await using site = await openTestSite(({ path }) =>
      path === '/'
        ? html(`<p id="n"></p><script>
            const next = (n) => fetch('/step/' + n).then((r) => r.json()).then((m) => m < 5 ? next(m) : (document.querySelector('#n').textContent = 'at ' + m))
            next(0)
          </script>`)
        : json(Number(path.split('/').at(-1)) + 1),
    )
    expect(textOf(await kit.page(site.url('/')))).toContain('at 5')
    expect(site.log.length).toBe(6)
  })

  it('has the address that the history API gave it, for relative links', async () => {
    await using site = await openTestSite({
      '/shop': html(
        `<script>history.pushState({}, '', '/shop/shoes/'); document.body.innerHTML += '<a href="red">red</a>'</script>`,
      ),
    })
    const page = await kit.page(site.url('/shop'))
    expect(page.url).toBe(site.url('/shop/shoes/'))
    expect(site.log.length).toBe(1)
  })

  it('is ready when the element that is waited for is there, and fails when it never is', async () => {
    await using site = await openTestSite({
      '/late': html(`<script>setTimeout(() => { document.body.innerHTML = '<b class="price">9</b>' }, 900)</script>`),
    })
    expect(textOf(await kit.page(site.url('/late'), { wait: { selector: '.price' } }))).toContain('class="price"')
    const failure = await kit.failure(site.url('/late'), { wait: { selector: '.never' }, timeoutMs: 1500 })
    expect(failure).toMatchObject({ failure: 'browser', status: 200 })
    expect(failure.error).toContain('an element that fits .never within 1500 ms')
  })

  it('holds what elements keep in open shadow trees', async () => {
    await using site = await openTestSite({
      '/': html(`<x-card></x-card><script>customElements.define('x-card', class extends HTMLElement {
        constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<a href="/in-shadow">x</a>' }
      })</script>`),
    })
    expect(textOf(await kit.page(site.url('/')))).toContain('<a href="/in-shadow">')
  })

  it('does not load pictures, fonts, media, frames and sockets, and loads pictures when asked to', async () => {
    const loads = `<img src="/a.png"><video src="/v.mp4"></video><iframe src="/frame"></iframe>
      <script>new EventSource('/events'); new WebSocket(location.href.replace('http', 'ws') + 'socket'); navigator.sendBeacon('/ping', 'x')</script>`
    await using site = await openTestSite({ '/': html(loads) })
    await kit.page(site.url('/'))
    expect(site.log.map(({ path }) => path)).toEqual(['/'])
    await kit.page(site.url('/'), { block: [] })
    expect(site.requestsFor('/a.png').length).toBe(1)
    expect(site.log.map(({ path }) => path)).not.toContain('/frame')
  })

  it('keeps a script that many pages share, and not one that must not be kept', async () => {
    await using site = await openTestSite(({ path }) =>
      path.startsWith('/page')
        ? html('<script src="/shared.js"></script><script src="/own.js"></script>')
        : {
            ...script('1'),
            headers: {
              'content-type': 'text/javascript',
              ...(path === '/own.js' ? { 'cache-control': 'no-store' } : {}),
            },
          },
    )
    for (const n of [1, 2, 3]) await kit.page(site.url(`/page${n}`))
    expect(site.requestsFor('/shared.js').length).toBe(1)
    expect(site.requestsFor('/own.js').length).toBe(3)
  })

  it('leads on by script as by a redirect, and is not left for it', async () => {
    await using site = await openTestSite({ '/old': html(`<script>location.replace('/new?a=1#part')</script>`) })
    const page = await kit.page(site.url('/old'))
    expect(headerOf(page.headers, 'refresh')).toBe(`0;url=${site.url('/new?a=1')}`)
    expect(site.log.map(({ path }) => path)).toEqual(['/old'])
  })

  it('is asked for again when its script sets a cookie and reloads, and only then', async () => {
    await using site = await openTestSite(({ path, headers }) => {
      if (path === '/endless') return html('<script>location.reload()</script><p>here</p>')
      return (headers.cookie ?? '').includes('pass=1')
        ? html('<p>inside</p>')
        : html(`<script>document.cookie = 'pass=1; path=/'; location.reload()</script>`)
    })
    const wall = await kit.page(site.url('/wall'))
    expect([wall.status, headerOf(wall.headers, 'location')]).toEqual([302, site.url('/wall')])
    expect(textOf(await kit.page(site.url('/wall')))).toContain('inside')
    expect(textOf(await kit.page(site.url('/endless')))).toContain('here')
    expect(site.requestsFor('/endless').length).toBe(1)
  })

  it('is not held up by dialogs, popups and downloads', async () => {
    await using site = await openTestSite({
      '/': html(`<p>text</p><script>
        alert('one'); confirm('two'); prompt('three'); open('/popup')
        const a = document.createElement('a'); a.href = '/file.zip'; a.download = ''; document.body.append(a); a.click()
        document.querySelector('p').textContent = 'all done'
      </script>`),
    })
    expect(textOf(await kit.page(site.url('/')))).toContain('all done')
    expect(site.log.map(({ path }) => path)).toEqual(['/'])
  })

  it('is what it is at the deadline when its requests never rest', async () => {
    await using site = await openTestSite(({ path }) =>
      path === '/' ? html(`<p>text</p><script>(async () => { for (;;) await fetch('/tick') })()</script>`) : json(1),
    )
    expect(textOf(await kit.page(site.url('/'), { timeoutMs: 1500 }))).toContain('<p>text</p>')
  })

  it('fails when a script never ends, and the next page does not', async () => {
    await using site = await openTestSite({
      '/loop': html('<script>for (;;);</script>'),
      '/late-loop': html('<script>setTimeout(() => { for (;;); }, 100)</script>'),
      '/good': html('<p>good</p>'),
    })
    for (const path of ['/loop', '/late-loop']) {
      expect(await kit.failure(site.url(path), { timeoutMs: 1000 })).toMatchObject({ failure: 'browser', status: 200 })
    }
    expect(textOf(await kit.page(site.url('/good')))).toContain('good')
  })

  it('fails when its scripts take too much memory, and the next page does not', async () => {
    await using site = await openTestSite({
      '/hog': html(
        '<script>const all = []; for (;;) all.push(new Array(1e6).fill({}).map((_, i) => ({ i })))</script>',
      ),
      '/good': html('<p>good</p>'),
    })
    expect(await kit.failure(site.url('/hog'), { timeoutMs: 8000 })).toMatchObject({ failure: 'browser' })
    expect(textOf(await kit.page(site.url('/good')))).toContain('good')
  })

  it('is too large when scripts blow it up', async () => {
    await using site = await openTestSite({
      '/': html(`<script>document.body.innerHTML = '<p>' + 'x'.repeat(3e6)</script>`),
    })
    expect(await kit.failure(site.url('/'))).toMatchObject({ failure: 'too-large' })
  })

  it('leaves files behind that are named by their content', async () => {
    await using site = await openTestSite({ '/': html('<h1>picture</h1>') })
    const page = await kit.page(site.url('/'), { save: ['screenshot', 'pdf'] })
    const files = renderedFilesOf(page.headers)
    for (const [file, start] of [
      [files?.screenshot, '\x89PNG'],
      [files?.pdf, '%PDF'],
    ] as const) {
      const bytes = readFileSync(join(kit.dir, file ?? ''))
      expect(bytes.subarray(0, 4).toString('latin1')).toBe(start)
      expect(file).toContain(createHash('sha256').update(bytes).digest('hex'))
    }
  })

  it('comes as it is when it is no page, or not a good one', async () => {
    await using site = await openTestSite({
      '/data.json': json({ a: 1 }),
      '/gone': { ...html('<p>gone</p>'), status: 404 },
      '/there': { status: 301, headers: { location: '/elsewhere' } },
      '/file': html('<p>saved</p>', { 'content-disposition': 'attachment; filename=a.html', 'spoor-rendered': '1' }),
    })
    for (const [path, status] of [
      ['/data.json', 200],
      ['/gone', 404],
      ['/there', 301],
      ['/file', 200],
    ] as const) {
      const page = await kit.page(site.url(path))
      expect([path, page.status, renderedFilesOf(page.headers)]).toEqual([path, status, undefined])
    }
    expect(existsSync(join(kit.dir, 'files'))).toBe(true)
  })

  it('is rendered in mode auto only when it needs to be', async () => {
    await using site = await openTestSite({
      '/spa': html(
        '<div id="root"></div><script>document.querySelector("#root").innerHTML = "<p>made</p>"; fetch("/x")</script>',
      ),
      '/plain': html(`<p>${'word '.repeat(100)}</p><script src="/shop.js"></script>`),
    })
    expect(textOf(await kit.page(site.url('/spa'), { mode: 'auto' }))).toContain('made')
    const plain = await kit.page(site.url('/plain'), { mode: 'auto' })
    expect(renderedFilesOf(plain.headers)).toBeUndefined()
    expect(site.requestsFor('/shop.js')).toEqual([])
  })
})
