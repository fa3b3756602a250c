/** The browser dies under its pages: it is started again and the pages are loaded once more, without asking for them again. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openTestSite } from '../../../src/testing/site.ts'
import { chromium } from '../../support/chromium.ts'
import { html, json, openRenderKit, textOf } from './kit.ts'

/** The browsers that this process has started. */
function browserPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        return (
          parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--remote-debugging-pipe')
        )
      } catch {
        return false // it has ended
      }
    })
    .map(Number)
}

function killBrowsers(): void {
  const pids = browserPids()
  if (pids.length === 0) throw new Error('expected a browser that runs, found none')
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}

const FETCHES = `<script>fetch('/api').then((r) => r.json()).then((v) => { document.title = 'got ' + v })</script>`

describe.skipIf(chromium === undefined || process.platform !== 'linux')('a browser that is killed', () => {
  it('loses no page: those it had are shown to the next one', async () => {
    await using site = await openTestSite(({ path, visit }) => {
      if (path !== '/api') return html(FETCHES)
      if (visit === 1) killBrowsers()
      return json(visit)
    })
    await using kit = await openRenderKit()
    expect(textOf(await kit.page(site.url('/')))).toContain('got 2')
    expect(site.requestsFor('/').length).toBe(1)
    expect(kit.warnings).toContain('the browser ended by itself and is started again; its pages are loaded once more')
    expect(textOf(await kit.page(site.url('/')))).toContain('got 3')
  })

  it('fails the page under which it ends twice, and goes on with the next', async () => {
    await using site = await openTestSite(({ path }) => {
      if (path === '/api') killBrowsers()
      return path === '/' ? html(FETCHES) : html('<p>good</p>')
    })
    await using kit = await openRenderKit()
    expect(await kit.failure(site.url('/'))).toMatchObject({ failure: 'browser', status: 200 })
    expect(textOf(await kit.page(site.url('/good')))).toContain('good')
  })

  it('is found dead between two pages', async () => {
    await using site = await openTestSite({ '/': html('<p>good</p>') })
    await using kit = await openRenderKit()
    await kit.page(site.url('/'))
    killBrowsers()
    expect(textOf(await kit.page(site.url('/')))).toContain('good')
  })

  it('is renewed after so many pages, as its contexts are', async () => {
    await using site = await openTestSite({
      '/': html('<script>localStorage.n = 1 + Number(localStorage.n ?? 0); document.title = localStorage.n</script>'),
    })
    await using kit = await openRenderKit({ browser: { maxPages: 1, renew: { maxUses: 2, maxBrowserUses: 4 } } })
    const titles: string[] = []
    const pids = new Set<number>()
    for (let n = 0; n < 6; n++) {
      titles.push(/<title>(.*)<\/title>/.exec(textOf(await kit.page(site.url('/'))))?.[1] ?? '')
      for (const pid of browserPids()) pids.add(pid)
    }
    expect(titles).toEqual(['1', '2', '1', '2', '1', '2'])
    expect(pids.size).toBe(2)
  })
})
