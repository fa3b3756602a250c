/** What dead hosts cost the living ones: the same living sites crawled alone, and among 99 times as many that are dead. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** refused: nobody listens. silent: connections are taken, and nothing is ever said. */
export type Death = 'refused' | 'silent'

export interface DeadOptions {
  readonly living: number
  /** Undefined: the living are alone. */
  readonly dead?: { readonly hosts: number; readonly death: Death }
  readonly pagesPerHost: number
  /** How long to watch at most. */
  readonly limitMs: number
}

export interface DeadResult {
  /** Pages of the living that were fetched. */
  readonly pages: number
  /** Living hosts that were met, and in the end all of whose pages were fetched. */
  readonly met: number
  readonly whole: number
  /** Pages a second of a living host: from its first request until its last page, or until the end of the watch. */
  readonly pace: number
}

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js')
const LOOK_EVERY_MS = 50
/** Of the silent: no other limit can end a request to them. */
const TIMEOUT = '5s'
const DELAY = '100ms'
const CONCURRENCY = '64'

export async function measureAmongDead(options: DeadOptions): Promise<DeadResult> {
  const { living, dead, pagesPerHost, limitMs } = options
  const folder = mkdtempSync(join(tmpdir(), 'spoor-dead-'))
  const visits = new Map<string, Visits>()
  const server = createServer((request, response) => {
    note(visits, request.headers.host ?? '')
    response.setHeader('content-type', 'text/html')
    response.end(request.url === '/' ? indexPage(pagesPerHost) : '<p>A page')
  })
  const tarpit = createTcpServer((socket) => socket.on('error', () => undefined))
  const closed = createTcpServer()
  const [livingPort, silentPort, refusedPort] = [await listen(server), await listen(tarpit), await listen(closed)]
  closed.close()
  const deadPort = dead?.death === 'silent' ? silentPort : refusedPort
  const seeds = join(folder, 'seeds.txt')
  writeFileSync(seeds, seedLines(options).join('\n'))
  const flags = ['--seeds', seeds, '--dir', join(folder, 'data'), '--no-robots', '--cache', 'off', '--quiet']
  const limits = ['--delay', DELAY, '--concurrency', CONCURRENCY, '--timeout', TIMEOUT]
  const places = ['--connect-to', `:80:127.0.0.1:${livingPort}`, '--connect-to', `:81:127.0.0.1:${deadPort}`]
  const child = spawn(process.execPath, [MAIN, 'crawl', ...flags, ...limits, ...places], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  const state = { over: false }
  const pages = (): number => [...visits.values()].reduce((sum, host) => sum + host.pages, 0)
  void exited.then(() => (state.over = true))
  const wanted = living * (pagesPerHost + 1)
  const startMs = performance.now()
  while (!state.over && pages() < wanted && performance.now() - startMs < limitMs) await delay(LOOK_EVERY_MS)
  child.kill('SIGKILL')
  await exited
  server.close()
  server.closeAllConnections()
  tarpit.close()
  rmSync(folder, { recursive: true, force: true })
  return { pages: pages(), ...paceOf([...visits.values()], pagesPerHost + 1) }
}

interface Visits {
  readonly firstMs: number
  lastMs: number
  pages: number
}

function note(visits: Map<string, Visits>, host: string): void {
  const nowMs = performance.now()
  const seen = visits.get(host) ?? { firstMs: nowMs, lastMs: nowMs, pages: 0 }
  visits.set(host, Object.assign(seen, { lastMs: nowMs, pages: seen.pages + 1 }))
}

function paceOf(hosts: readonly Visits[], pagesOfEach: number): Omit<DeadResult, 'pages'> {
  const endMs = performance.now()
  const whole = hosts.filter(({ pages }) => pages >= pagesOfEach)
  let [pages, spentMs] = [0, 0]
  for (const host of hosts) {
    pages += host.pages - 1
    spentMs += (whole.includes(host) ? host.lastMs : endMs) - host.firstMs
  }
  return { met: hosts.length, whole: whole.length, pace: (pages / spentMs) * 1000 }
}

function indexPage(pages: number): string {
  return Array.from({ length: pages }, (_, page) => `<a href="/${page}">${page}</a>`).join('\n')
}

/** The living stand among the dead, not before them. */
function seedLines({ living, dead }: DeadOptions): readonly string[] {
  const between = Math.floor((dead?.hosts ?? 0) / living)
  return Array.from({ length: living }, (_, host) => [
    ...Array.from({ length: between }, (__, n) => `http://dead${host}-${n}.test:81/`),
    `http://living${host}.test/`,
  ]).flat()
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
