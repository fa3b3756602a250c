/** One crawl of one site by one peer, counted by the server's log; and the same with a kill -9 half way. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startCommand } from './measure.ts'
import type { Measurement, RunningCommand } from './measure.ts'
import type { WebServer } from './nginx.ts'
import type { Peer } from './peers.ts'
import type { Coverage } from './request-log.ts'
import type { Site } from './site.ts'

export interface Bench {
  readonly site: Site
  readonly server: WebServer
  readonly concurrency: number
  /** A run that takes longer is ended and said to have failed. */
  readonly timeoutMs: number
}

export interface Run extends Coverage {
  readonly measured: Measurement
  readonly pagesPerSecond: number
  readonly cpuMsPerPage: number
}

const LOOK_EVERY_MS = 10
const RAM_DISK = '/dev/shm'

export async function runOnce(bench: Bench, peer: Peer): Promise<Run> {
  const folder = folderFor(peer)
  try {
    bench.server.log.forget()
    const measured = await start(bench, peer, { folder, durable: false, resumed: false }).ended
    return await runOf(bench, measured)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The second run is measured, the coverage is that of both. Undefined: it ended before half of the pages were seen. */
export async function runKilled(bench: Bench, peer: Peer): Promise<Run | undefined> {
  const folder = folderFor(peer)
  const { log } = bench.server
  try {
    log.forget()
    const first = start(bench, peer, { folder, durable: true, resumed: false })
    const state = { over: false }
    const ended = first.ended.then(() => (state.over = true))
    while (!state.over && log.read() < bench.site.truth.size / 2) await delay(LOOK_EVERY_MS)
    if (state.over) return undefined
    first.kill()
    await ended
    return await runOf(bench, await start(bench, peer, { folder, durable: true, resumed: true }).ended)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Place {
  readonly folder: string
  readonly durable: boolean
  readonly resumed: boolean
}

function start({ site, server, concurrency, timeoutMs }: Bench, peer: Peer, place: Place): RunningCommand {
  const seeds = site.addresses.map((address) => `http://${address}:${server.port}${site.seedPath}`)
  return startCommand({ ...peer.command({ seeds, concurrency, ...place }), cwd: place.folder }, timeoutMs)
}

async function runOf({ server, site }: Bench, measured: Measurement): Promise<Run> {
  await server.flushLog()
  const coverage = server.log.coverage(site.truth)
  return {
    ...coverage,
    measured,
    pagesPerSecond: coverage.pages / measured.seconds,
    cpuMsPerPage: measured.cpuMs / Math.max(1, coverage.pages),
  }
}

function folderFor({ name, keepsFiles }: Peer): string {
  const place = keepsFiles === true && existsSync(RAM_DISK) ? RAM_DISK : tmpdir()
  return mkdtempSync(join(place, `spoor-bench-${name}-`))
}
