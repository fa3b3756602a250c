/** Workers on a shared store whose line is cut, whose process stands still, or whose clock is wrong: by the site's log. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import type { TestSite } from '../../src/testing/site.ts'
import type { SiteAnswer } from '../../src/testing/site-answer.ts'
import { monotonicMs, openTemporaryFolder, runSpoor, startSpoor } from '../support/command.ts'
import type { RunningCommand } from '../support/command.ts'
import { storeServers } from '../support/store-servers.ts'
import type { StoreServer } from '../support/store-servers.ts'
import { openTcpProxy } from '../support/tcp-proxy.ts'

const LEASE_MS = 5000
/** With the chaos tests that are run by hand as long as the promise says. */
const OUTAGE_MS = process.env['SPOOR_CHAOS_MS'] === undefined ? 4000 : 30_000

interface Scene {
  readonly site: TestSite
  readonly folder: string
  /** Pages go on coming until this is called. */
  finish(): void
}

/** `/chain/0`, `/chain/1`, … one after the other until `finish`, each with leaves; the seed also leads to `held`. */
async function withScene(
  held: (visit: number) => SiteAnswer | Promise<SiteAnswer>,
  play: (scene: Scene) => Promise<void>,
) {
  await using folder = await openTemporaryFolder()
  const goesOn: boolean[] = []
  let isOver = false
  await using site = await openTestSite(({ path, visit }) => {
    const [, kind, number = ''] = path.split('/')
    if (path === '/') return { links: ['/held', '/chain/0'] }
    if (kind === 'held') return held(visit)
    if (kind === 'leaf') return { delayMs: 50 }
    if (kind !== 'chain') return undefined
    const link = Number(number)
    goesOn[link] ??= !isOver
    const leaves = Array.from({ length: 8 }, (_, n) => n).map((n) => `/leaf/${link}-${n}`)
    return { links: [...leaves, ...(goesOn[link] ? [`/chain/${link + 1}`] : [])], delayMs: 50 }
  })
  const finish = (): void => {
    isOver = true
  }
  await play({ site, folder: folder.path, finish })
}

interface WorkerOptions {
  readonly store: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

function startWorker({ site, folder }: Scene, name: string, { store, args = [], env }: WorkerOptions): RunningCommand {
  const places = ['--store', store, '--dir', join(folder, name), '-o', join(folder, `${name}.jsonl`)]
  // few enough in flight that one worker cannot have all there is
  const manners = ['--concurrency', '2', '--per-host', '8', '--cache', 'off', '--user-agent', name, '--json', '--quiet']
  return startSpoor(['crawl', site.url('/'), ...places, ...manners, ...args], env === undefined ? {} : { env })
}

const requestsOf = (site: TestSite, worker: string): TestSite['log'] =>
  site.log.filter(({ headers, path }) => headers['user-agent'] === worker && path !== '/robots.txt')

async function untilAsked(site: TestSite, worker: string, count: number): Promise<void> {
  while (requestsOf(site, worker).length < count) await site.waitForRequests(site.log.length + 1)
}

async function untilVisited(site: TestSite, path: string, count: number): Promise<void> {
  while (site.requestsFor(path).length < count) await site.waitForRequests(site.log.length + 1)
}

/** Every page that was linked, once in the store and once in each file. */
async function expectOnce(scene: Scene, store: string, files: readonly string[]): Promise<void> {
  const wanted = [...new Set(scene.site.log.map(({ path }) => scene.site.url(path)))]
    .filter((url) => !url.endsWith('/robots.txt'))
    .toSorted()
  const exported = await runSpoor(['export', '-o', '-', '--format', 'jsonl', '--store', store])
  const texts = [
    exported.stdout,
    ...(await Promise.all(files.map((name) => readFile(join(scene.folder, `${name}.jsonl`), 'utf8')))),
  ]
  for (const text of texts) {
    const urls = text
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { readonly url: string }).url)
    expect(urls.toSorted()).toEqual(wanted)
  }
  const verified = await runSpoor(['verify', '--json', '--store', store])
  expect(JSON.parse(verified.stdout)).toEqual({ ok: true, problems: [] })
}

function repeatedIn({ log }: TestSite): string[] {
  const seen = new Set<string>()
  return log.map(({ path }) => path).filter((path) => path !== '/robots.txt' && (seen.has(path) || !seen.add(path)))
}

for (const { name, isThere, start } of storeServers()) {
  describe.runIf(isThere && process.platform === 'linux')(`workers on ${name}`, () => {
    let server: StoreServer
    let places = 0
    beforeAll(async () => {
      server = await start()
    }, 300_000)
    afterAll(async () => {
      await server.stop()
    })
    /** A store of its own for each test. */
    const place = (url = server.url): string => `${url}${url.includes('?') ? '&' : '?'}prefix=t${++places}_`

    it.each(['cut', 'hold'] as const)(
      'stop fetching before their leases run out when their line is %s, and go on when it is back',
      { timeout: 300_000 },
      async (how) => {
        await using proxy = await openTcpProxy(server.url)
        const store = place()
        const behind = store.replace(new URL(server.url).host, new URL(proxy.url).host)
        await withScene(
          (visit) => (visit === 1 ? { fault: { kind: 'hang' } } : {}),
          async (scene) => {
            const { site } = scene
            const lease = ['--lease', `${LEASE_MS}ms`]
            const cutOff = startWorker(scene, 'cut-off', { store: behind, args: lease })
            await untilVisited(site, '/held', 1)
            const other = startWorker(scene, 'other', { store, args: lease })
            await untilAsked(site, 'other', 5)
            const cutAtMs = monotonicMs()
            proxy[how]()
            // others may have it only when its lease has run out
            await untilVisited(site, '/held', 2)
            const before = requestsOf(site, 'cut-off').length
            proxy.mend()
            await untilAsked(site, 'cut-off', before + 5)
            scene.finish()
            for (const command of [cutOff, other]) {
              const end = await command.ended
              expect(end, end.stderr).toMatchObject({ code: 0 })
            }
            const [first, second] = site.requestsFor('/held')
            expect(first?.headers['user-agent']).toBe('cut-off')
            expect(second?.headers['user-agent']).toBe('other')
            expect(first?.endedAtMs ?? Infinity).toBeLessThan(second?.atMs ?? 0)
            expect(first?.endedAtMs ?? Infinity).toBeLessThan(cutAtMs + LEASE_MS)
            const late = requestsOf(site, 'cut-off').filter(({ atMs }) => atMs > cutAtMs + LEASE_MS)
            expect(late.every(({ atMs }) => atMs > (second?.atMs ?? 0))).toBe(true)
            await expectOnce(scene, store, ['cut-off', 'other'])
          },
        )
      },
    )

    it(`ride out ${OUTAGE_MS / 1000} s without their server and repeat nothing`, { timeout: 300_000 }, async () => {
      const store = place()
      await withScene(
        () => ({ delayMs: 500 }),
        async (scene) => {
          const { site } = scene
          const workers = ['one', 'two'].map((worker) => startWorker(scene, worker, { store }))
          await Promise.all(['one', 'two'].map((worker) => untilAsked(site, worker, 5)))
          await server.halt()
          await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS))
          await server.resume()
          const before = site.log.length
          await site.waitForRequests(before + 20)
          scene.finish()
          for (const command of workers) {
            const end = await command.ended
            expect(end, end.stderr).toMatchObject({ code: 0 })
          }
          expect(repeatedIn(site)).toEqual([])
          await expectOnce(scene, store, ['one', 'two'])
        },
      )
    })

    it(
      'that stood still while their leases moved on settle and export nothing late',
      { timeout: 300_000 },
      async () => {
        const store = place()
        const gate = new AbortController()
        await withScene(
          async (visit) => {
            if (visit === 1)
              await new Promise((resolve) => gate.signal.addEventListener('abort', resolve, { once: true }))
            return { title: `visit ${visit}`, links: [`/leaf/of-visit-${visit}`] }
          },
          async (scene) => {
            const { site } = scene
            const lease = ['--lease', '2s']
            const still = startWorker(scene, 'still', { store, args: lease })
            await untilVisited(site, '/held', 1)
            const other = startWorker(scene, 'other', { store, args: lease })
            await untilAsked(site, 'other', 3)
            still.signal('SIGSTOP')
            await untilVisited(site, '/held', 2)
            await untilVisited(site, '/leaf/of-visit-2', 1)
            // the answer waits for the stopped one when it goes on
            gate.abort()
            await expect.poll(() => site.requestsFor('/held')[0]?.ended, { timeout: 120_000 }).toBe('answered')
            still.signal('SIGCONT')
            await untilAsked(site, 'other', requestsOf(site, 'other').length + 5)
            scene.finish()
            for (const command of [still, other]) {
              const end = await command.ended
              expect(end, end.stderr).toMatchObject({ code: 0 })
            }
            expect(site.requestsFor('/held').map(({ headers }) => headers['user-agent'])).toEqual(['still', 'other'])
            expect(site.requestsFor('/leaf/of-visit-1')).toEqual([])
            await expectOnce(scene, store, ['still', 'other'])
          },
        )
      },
    )

    it('whose clocks are an hour apart keep the delay and fetch nothing twice', { timeout: 300_000 }, async () => {
      const store = place()
      const [delayMs, rounds] = [40, 40]
      await withScene(
        () => ({ delayMs: 500 }),
        async (scene) => {
          const { site } = scene
          const skews = { right: 0, ahead: 3_600_000, behind: -3_600_000 }
          const clock = new URL('../support/wrong-clock.mjs', import.meta.url).href
          const workers = Object.entries(skews).map(([worker, ms]) =>
            startWorker(scene, worker, {
              store,
              args: ['--delay', `${delayMs}ms`],
              env: { NODE_OPTIONS: `--import=${clock}`, TEST_CLOCK_AHEAD_MS: String(ms) },
            }),
          )
          await Promise.all(Object.keys(skews).map((worker) => untilAsked(site, worker, 5)))
          await site.waitForRequests(site.log.length + rounds)
          scene.finish()
          for (const command of workers) {
            const end = await command.ended
            expect(end, end.stderr).toMatchObject({ code: 0 })
          }
          expect(repeatedIn(site)).toEqual([])
          const times = site.log.filter(({ path }) => path !== '/robots.txt').map(({ atMs }) => atMs)
          for (const [n, atMs] of times.entries()) {
            const end = times[n + rounds]
            if (end !== undefined) expect(end - atMs).toBeGreaterThan(rounds * delayMs * 0.75)
          }
          await expectOnce(scene, store, Object.keys(skews))
        },
      )
    })

    it('that find the same URLs at the same instant make one request for each', { timeout: 300_000 }, async () => {
      const store = place()
      await using folder = await openTemporaryFolder()
      const both = new Map<string, () => void>()
      const links = Array.from({ length: 40 }, (_, n) => `/found/${n}`)
      await using site = await openTestSite(async ({ path, visit }) => {
        if (path === '/') return { links: ['/left', '/right'] }
        if (path !== '/left' && path !== '/right') return path.startsWith('/found/') ? {} : undefined
        if (visit > 1) return { links }
        await new Promise<void>((resolve) => {
          both.set(path, resolve)
          if (both.size === 2) for (const answer of both.values()) answer()
        })
        return { links }
      })
      const scene: Scene = { site, folder: folder.path, finish: () => undefined }
      const args = ['--concurrency', '1']
      const ends = ['one', 'two'].map((worker) => startWorker(scene, worker, { store, args }).ended)
      for (const end of await Promise.all(ends)) expect(end, end.stderr).toMatchObject({ code: 0 })
      expect(repeatedIn(site)).toEqual([])
      const finders = [...site.requestsFor('/left'), ...site.requestsFor('/right')]
      expect(new Set(finders.map(({ headers }) => headers['user-agent'])).size).toBe(2)
      await expectOnce(scene, store, ['one', 'two'])
    })
  })
}
