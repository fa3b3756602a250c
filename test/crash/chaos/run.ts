/** One chaos run: commands crawl a site on one store while, from a seed, they and the store's server are hit. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { monotonicMs, openTemporaryFolder, runSpoor } from '../../support/command.ts'
import type { TestSite } from '../../../src/testing/site.ts'
import type { Random } from '../../../src/util/random.ts'
import { seededRandom } from '../../../src/util/random.ts'
import { openChaosSite, SEED } from './site.ts'
import type { ChaosSite } from './site.ts'
import { expectPolite, worstRate } from './politeness.ts'
import { type Blow, type WorkerEnd, Workers } from './workers.ts'
import { explainRepeats } from './repeats.ts'
import { CONCURRENCY, DELAY_MS, LEASE_MS, PER_HOST, PROCESSES } from './setting.ts'

export interface ChaosServer {
  readonly url: string
  halt(): Promise<void>
  resume(): Promise<void>
}

export interface ChaosOptions {
  /** Undefined: the embedded store, with worker processes. */
  readonly server: ChaosServer | undefined
  readonly seed: number
  /** How long blows fall. */
  readonly forMs: number
}

const SLOTS = 4
/** Longer than a lease. */
const PAUSE_MS = LEASE_MS * 1.3
const GATE_MS = 2500
/** From the last answer of the site, or its own beginning, to the end of a command: a hang must not pass. */
const END_WITHIN_MS = 60_000
const HANGS_AFTER_MS = 150_000

export async function runChaos({ server, seed, forMs }: ChaosOptions): Promise<string> {
  await using folder = await openTemporaryFolder()
  await using chaos = await openChaosSite({ gateMs: GATE_MS })
  const store = server === undefined ? [] : ['--store', server.url]
  const workers = new Workers({
    folder: folder.path,
    args: [...crawlArgs(chaos), ...store],
    processes: server === undefined ? PROCESSES : 1,
    isShared: server === undefined,
    deadlineMs: forMs + HANGS_AFTER_MS,
  })
  const blows = new Blows({ site: chaos.site, workers, random: seededRandom(seed), server })
  try {
    workers.start(0)
    workers.start(1)
    await blows.fall(forMs)
    chaos.finish()
    await Promise.race([chaos.gateReached, workers.ended()])
    workers.start(SLOTS)
    await workers.ended()
    return await judge({ chaos, workers, store: store.length > 0 ? store : ['--dir', join(folder.path, 'data')] })
  } finally {
    workers.killAll()
  }
}

function crawlArgs({ site }: ChaosSite): string[] {
  const limits = ['--concurrency', String(CONCURRENCY), '--per-host', String(PER_HOST), '--delay', `${DELAY_MS}ms`]
  const network = ['--connect-to', `::127.0.0.1:${site.port}`, '--scope', 'any', '--cache', 'off']
  return [SEED, ...limits, ...network, '--lease', `${LEASE_MS}ms`, '--json']
}

interface BlowsOptions {
  readonly site: TestSite
  readonly workers: Workers
  readonly random: Random
  readonly server: ChaosServer | undefined
}

/** Between two blows: requests for pages, or so long without enough of them. */
const MIN_REQUESTS = 5
const MORE_REQUESTS = 60
const LONGEST_CALM_MS = 4000

type Strike = Blow['kind'] | 'start'

/** Each round holds them all, in an order of its own: also a short run has met each kind. */
const DECK: readonly Strike[] = ['kill', 'start', 'pause', 'kill', 'start', 'outage', 'kill', 'start', 'pause']

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

class Blows {
  readonly #options: BlowsOptions
  readonly #healing: Promise<void>[] = []
  readonly #deck: Strike[] = []
  #isServerDown = false

  constructor(options: BlowsOptions) {
    this.#options = options
  }

  /** Ends when everything that was stopped goes on again. */
  async fall(forMs: number): Promise<void> {
    const { random } = this.#options
    const untilMs = monotonicMs() + forMs
    while (monotonicMs() < untilMs) {
      await this.#untilProgress(MIN_REQUESTS + random() * MORE_REQUESTS)
      await this.#strike()
    }
    await Promise.all(this.#healing)
    this.#options.workers.start(0)
    this.#options.workers.start(1)
  }

  /** On a machine that is slow to start what was killed, blows are rarer: each must hit a crawl that moves. */
  async #untilProgress(requests: number): Promise<void> {
    const { site } = this.#options
    const waited = new AbortController()
    await Promise.race([
      site.waitForRequests(site.log.length + Math.floor(requests), waited.signal),
      delay(LONGEST_CALM_MS),
    ]).finally(() => {
      waited.abort()
    })
  }

  /** One blow, whatever comes of it: the same seed draws the same numbers. */
  async #strike(): Promise<void> {
    const { workers, random } = this.#options
    const [whom, which, length] = [random(), random(), random()]
    if (this.#deck.length === 0) this.#deck.push(...shuffled(DECK, random))
    const kind = this.#deck.pop()
    const slot = workers.slots[Math.floor(whom * workers.slots.length)] ?? 0
    const pick = (count: number): number => Math.floor(which * count)
    if (kind === 'kill') await workers.kill(slot, pick)
    else if (kind === 'pause') this.#heal(await workers.pause(slot, pick), PAUSE_MS * (1 + length * 0.3))
    else if (kind === 'outage') this.#healing.push(this.#outage(500 + length * 2000))
    else workers.start(Math.floor(which * SLOTS))
  }

  #heal(goOn: () => void, afterMs: number): void {
    this.#healing.push(delay(afterMs).then(goOn))
  }

  async #outage(forMs: number): Promise<void> {
    const { server, workers } = this.#options
    if (server === undefined || this.#isServerDown) return
    this.#isServerDown = true
    const blow = { worker: '*', kind: 'outage' as const, fromMs: monotonicMs(), untilMs: Infinity }
    workers.blows.push(blow)
    await server.halt()
    await delay(forMs)
    await server.resume()
    blow.untilMs = monotonicMs()
    this.#isServerDown = false
  }
}

interface Judged {
  readonly chaos: ChaosSite
  readonly workers: Workers
  /** Names the store to other commands. */
  readonly store: readonly string[]
}

async function judge({ chaos, workers, store }: Judged): Promise<string> {
  const lastAtMs = Math.max(...chaos.pages().map(({ endedAtMs, atMs }) => endedAtMs ?? atMs))
  for (const end of workers.ends) {
    if (isRefusal(end, workers.blows)) continue
    expect(end, `${end.worker}: ${end.stderr}`).toMatchObject({ code: 0 })
    expect(end.atMs, `${end.worker} left before the end`).toBeGreaterThan(lastAtMs)
    expect(end.atMs - Math.max(lastAtMs, end.startedAtMs), `${end.worker} stayed after the end`).toBeLessThan(
      END_WITHIN_MS,
    )
  }
  const wanted = [...chaos.truth()].toSorted()
  expect(finalUrls(await readFile(workers.output, 'utf8'))).toEqual(wanted)
  const exported = await runSpoor(['export', '-o', '-', '--format', 'jsonl', ...store])
  expect(finalUrls(exported.stdout)).toEqual(wanted)
  const verified = await runSpoor(['verify', '--json', ...store])
  expect(JSON.parse(verified.stdout), verified.stderr).toEqual({ ok: true, problems: [] })
  const { unexplained, repeats } = explainRepeats(chaos.pages(), workers.blows)
  expect(unexplained).toEqual([])
  expectPolite(chaos.pages())
  const count = (kind: string): number => workers.blows.filter((blow) => blow.kind === kind).length
  const exits = workers.ends.filter(({ code }) => code === 0).map(({ atMs }) => atMs - lastAtMs)
  expect(exits.length).toBeGreaterThan(0)
  return (
    `${wanted.length} pages once, ${workers.started} commands, ${count('kill')} kills, ${count('pause')} pauses, ` +
    `${count('outage')} outages; ${repeats} repeated requests; busiest second of a host ${worstRate(chaos.pages()).toFixed(0)} requests; ` +
    `${exits.length} commands ended by themselves, ${Math.min(...exits).toFixed(0)} to ${Math.max(...exits).toFixed(0)} ms after the last answer`
  )
}

/** A command that begins while the server is away is told at once: it may be the wrong one. */
function isRefusal({ code, stderr, startedAtMs, atMs }: WorkerEnd, blows: readonly Blow[]): boolean {
  const isAway = blows.some(
    ({ kind, fromMs, untilMs }) => kind === 'outage' && fromMs <= atMs && untilMs >= startedAtMs,
  )
  return code === 3 && isAway && /^spoor: The store at \S+ cannot be opened: expected [^\n]+\n$/.test(stderr)
}

function finalUrls(text: string): string[] {
  const lines = text.split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { readonly finalUrl: string }).finalUrl).toSorted()
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
