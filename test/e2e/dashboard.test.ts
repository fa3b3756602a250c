/** The dashboard of a running crawl, in a real browser: each panel, hostile text, and buttons that do what they say. */

import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium as playwright, type Page } from 'playwright-core'
import { mustGoWithoutSandbox } from '../../src/fetch/browser/launch.ts'
import { openTestSite, type TestSite } from '../../src/testing/site.ts'
import { chromium } from '../support/chromium.ts'
import {
  openTemporaryFolder,
  type RunningCommand,
  startSpoor,
  type TemporaryFolder,
  untilRequests,
} from '../support/command.ts'

const HOSTILE = `"><img src=x onerror="window.owned=1"><script>window.owned=1</script>\u202e`
const HOSTILE_PATH = `/404?q=%22%3E%3Cimg%20src=x%20onerror=window.owned=1%3E&r="><svg onload=window.owned=1>`

/** A site without an end, with a page that is broken until it is mended. */
async function openSite(): Promise<TestSite & { mend(): void }> {
  let isMended = false
  const site = await openTestSite(({ path }) => {
    if (path === '/robots.txt')
      return { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private' }
    if (path.startsWith('/404') || (path === '/broken' && !isMended)) return { status: 404, body: 'no' }
    const number = Number(/^\/p\/(\d+)$/.exec(path)?.[1] ?? 0)
    const links = [number * 2 + 1, number * 2 + 2].map((next) => `<a href="/p/${next}">next</a>`).join('')
    const first = `<a href="/broken">b</a><a href="/private">p</a><a href='${HOSTILE_PATH}'>h</a><a href="javascript:window.owned=1">j</a>`
    const title = HOSTILE.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return {
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: `<!doctype html><title>${number} ${title}</title>${number === 0 ? first : ''}${links}`,
    }
  })
  return Object.assign(site, {
    mend: () => {
      isMended = true
    },
  })
}

describe.skipIf(chromium === undefined)('the dashboard', () => {
  const asked: string[] = []
  const problems: string[] = []
  let site: Awaited<ReturnType<typeof openSite>>
  let folder: TemporaryFolder
  let command: RunningCommand
  let browser: Browser
  let page: Page
  let url: string

  beforeAll(async () => {
    site = await openSite()
    folder = await openTemporaryFolder()
    const port = await freePort()
    url = `http://127.0.0.1:${port}/`
    const limits = ['--delay', '60ms', '--no-traps', '--retries', '0']
    command = startSpoor(['crawl', `${site.origin}/`, '--dir', folder.path, '--dashboard', `${port}`, ...limits])
    browser = await playwright.launch({ executablePath: chromium ?? '', chromiumSandbox: !mustGoWithoutSandbox() })
    page = await browser.newPage({ colorScheme: 'light' })
    page.setDefaultTimeout(20_000)
    page.on('request', (request) => asked.push(request.url()))
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('dialog', (dialog) => {
      problems.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    await untilRequests(site, 3, command)
    await page.goto(url)
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    await command?.kill()
    await site?.close()
    await folder?.[Symbol.asyncDispose]()
  })

  const ticksSeen = (): Promise<number> =>
    page.evaluate<number>(`Number(document.querySelector('[data-ticks]').dataset.ticks)`)
  const panel = async (name: string): Promise<void> => {
    await page.locator('.tabs').getByRole('link', { name }).click()
  }
  /** So many figures have come since. */
  const ticks = async (count: number): Promise<void> => {
    const before = await ticksSeen()
    await expect.poll(ticksSeen, { timeout: 20_000 }).toBeGreaterThanOrEqual(before + count)
  }
  const said = (text: string): Promise<void> => page.locator('.said', { hasText: text }).waitFor()
  const standing = (name: string): Promise<void> => page.locator(`[data-standing="${name}"]`).waitFor()

  test('shows figures, curves, levels and workers, and asks nobody else for anything', async () => {
    await standing('running')
    await page.getByRole('heading', { name: 'Throughput' }).waitFor()
    await expect.poll(() => page.locator('.chart canvas').count()).toBe(2)
    await page.getByRole('row', { name: /^0 1 / }).waitFor()
    await page.getByRole('row', { name: /^worker-/ }).waitFor()
    await expect.poll(() => page.locator('.tile').first().innerText()).toMatch(/Pages\s+[1-9]/)
    expect(await page.locator('.tile', { hasText: 'Hosts' }).innerText()).toMatch(/Hosts\s+1/)
    expect(asked.filter((one) => !one.startsWith(url))).toEqual([])
  })

  test('shows the hosts with their delay', async () => {
    await panel('Hosts')
    const row = page.getByRole('row', { name: new RegExp(`^127.0.0.1:${site.port} `) })
    await row.waitFor()
    expect(await row.innerText()).toContain('60 ms')
    await page.getByLabel('Name has in it').fill('nobody')
    await page.locator('.note', { hasText: 'No host fits.' }).waitFor()
  })

  test('shows failures with their attempts, and retries one', async () => {
    await panel('Failures')
    const row = page.locator('.rows > li', { hasText: '/broken' })
    await row.getByText('1 attempt').click()
    await row.getByText('HTTP 404').first().waitFor()
    await page.locator('.rows > li', { hasText: 'svg' }).waitFor()
    site.mend()
    await row.getByRole('button', { name: /^Retry/ }).click()
    await said('1 request is queued again')
    await row.waitFor({ state: 'detached' })
    await expect.poll(() => site.requestsFor('/broken').map(({ status }) => status)).toEqual([404, 200])
  })

  test('answers why a URL was not fetched', async () => {
    await panel('Find a URL')
    await page.getByRole('textbox', { name: 'URL' }).fill(`${site.origin}/private`)
    await page.keyboard.press('Enter')
    await page.locator('.facts', { hasText: 'skipped' }).getByText('robots').waitFor()
    await page.getByRole('textbox', { name: 'URL' }).fill('javascript:window.owned=1')
    await page.keyboard.press('Enter')
    await page.locator('.facts', { hasText: 'unknown' }).waitFor()
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)
  })

  test('shows items and the log; hostile text stays text', async () => {
    await panel('Items')
    await page.locator('.rows > li', { hasText: '<img src=x' }).first().waitFor()
    await panel('Log')
    await page.locator('.log-line', { hasText: '/p/' }).first().waitFor()
    await page.getByRole('button', { name: 'Hold' }).click()
    await page.getByRole('button', { name: 'Go on' }).click()
    expect(await page.evaluate('window.owned')).toBeUndefined()
    expect(await page.locator('main img, main script, main svg').count()).toBe(0)
    expect((await page.locator('main').innerText()).includes('\u202e')).toBe(false)
  })

  test('pauses: no request goes out until it is resumed', async () => {
    await panel('Overview')
    await page.getByRole('button', { name: 'Pause' }).click()
    await standing('paused')
    await expect
      .poll(() => page.locator('.tile', { hasText: 'In flight' }).innerText(), { timeout: 20_000 })
      .toMatch(/In flight\s+0/)
    const { length } = site.log
    await ticks(2)
    expect(site.log).toHaveLength(length)
    await page.getByRole('button', { name: 'Resume' }).click()
    await site.waitForRequests(length + 3)
    await standing('running')
  })

  test('a new delay holds from the next request on', async () => {
    await page.getByLabel(/^Delay/).fill('700')
    await page.getByLabel(/^Requests in flight/).fill('3')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await said('Changed until this run ends')
    const { length } = site.log
    // one may be on its way with the old delay
    await site.waitForRequests(length + 4)
    const times = site.log.slice(length + 1).map(({ atMs }) => atMs)
    for (const [index, atMs] of times.entries())
      if (index > 0) expect(atMs - (times[index - 1] ?? 0)).toBeGreaterThan(450)
  })

  test('takes no orders from elsewhere, and no names of elsewhere', async () => {
    expect(await ask(url, 'POST', { 'x-spoor-key': 'guessed' })).toBe(403)
    expect(await ask(url, 'POST', { origin: 'http://evil.example' })).toBe(403)
    expect(await ask(url, 'GET', { host: 'evil.example' })).toBe(403)
    const policy = await page.evaluate(`fetch('/').then((answer) => answer.headers.get('content-security-policy'))`)
    expect(policy).toContain("default-src 'none'; script-src 'self'")
  })

  test('serves metrics and probes', async () => {
    const metrics = await fetch(new URL('/metrics?hosts=5', url))
    expect(metrics.headers.get('content-type')).toContain('text/plain; version=0.0.4')
    const text = await metrics.text()
    expect(text).toMatch(/^spoor_urls\{task="default",state="done"\} [1-9]/m)
    expect(text).toMatch(/^spoor_fetch_duration_seconds_count [1-9]/m)
    expect(text).toContain(`spoor_host_waiting{task="default",host="127.0.0.1:${site.port}"}`)
    expect((await fetch(new URL('/metrics?hosts=101', url))).status).toBe(400)
    for (const probe of ['/healthz', '/readyz']) expect((await fetch(new URL(probe, url))).status).toBe(200)
  })

  test('has a name for every control, and is dark when asked', async () => {
    const nameless = await page.evaluate<string[]>(`[...document.querySelectorAll('button, input, select, a')]
      .filter((one) => one.textContent.trim() === '' && one.ariaLabel === null && one.closest('label') === null)
      .map((one) => one.outerHTML)`)
    expect(nameless).toEqual([])
    const background = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.getByRole('button', { name: 'Colours: system. Change' }).click()
    await page.getByRole('button', { name: 'Colours: light. Change' }).click()
    await page.getByRole('button', { name: 'Colours: dark. Change' }).waitFor()
    expect(await background()).not.toBe(light)
  })

  test('stops the crawl, and says that it has ended', async () => {
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Really stop' }).click()
    await standing('ended')
    expect((await command.ended).code).toBe(130)
    expect(problems.filter((problem) => !problem.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
  })
})

/** A port that nobody has now: the page's address must be known before it is there. */
async function freePort(): Promise<number> {
  const site = await openTestSite({})
  const { port } = site
  await site.close()
  return port
}

function ask(url: string, method: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL('/api/pause', url), { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end()
  })
}
