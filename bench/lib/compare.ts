/** Crawls each site with each peer in turn, round after round, and puts the figures into tables. */

import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { hasNginx, openNginx } from './nginx.ts'
import { installNpmPeers } from './npm-peers.ts'
import type { CompareOptions } from './options.ts'
import { PEERS } from './peers.ts'
import type { Peer } from './peers.ts'
import { crashTable, speedTable } from './report.ts'
import type { CrashRow, SiteResult, SpeedRow } from './report.ts'
import { runKilled, runOnce } from './runs.ts'
import type { Bench, Run } from './runs.ts'
import { SITE_NAMES, openSite } from './site.ts'
import type { SiteName } from './site.ts'

type Present = Peer & { readonly found: string }

/** Answers whether Spoor lost nothing and repeated nothing: a run that did is no measurement. Results go to stdout, progress to stderr. */
export async function comparePeers(options: CompareOptions): Promise<boolean> {
  if (!hasNginx()) throw new Error('nginx is missing: apt-get install nginx')
  const peers = presentPeers(options.peers)
  const results: SiteResult[] = []
  for (const name of options.sites.map(siteNameOf)) results.push(await compareOn(name, peers, options))
  const machine = {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load: loadavg()[0]?.toFixed(1) ?? '',
  }
  if (options.json) console.log(JSON.stringify({ machine, sites: results }, undefined, 2))
  else {
    const { cores, processor, memoryGiB, node, load } = machine
    console.log(`${cores} cores (${processor}), ${memoryGiB} GiB, Node ${node}, load at the end ${load}`)
    for (const result of results) console.log(speedTable(result) + (options.kill ? crashTable(result) : ''))
  }
  const ours = results.flatMap(({ rows }) => rows.filter(({ peer }) => peer.startsWith('spoor')))
  return ours.flatMap(({ runs }) => runs).every(isComplete)
}

function isComplete({ measured, missing, repeats }: Run): boolean {
  return measured.code === 0 && missing === 0 && repeats === 0
}

/** Peers that cannot be run here are named aloud and left out. */
function presentPeers(names: readonly string[]): readonly Present[] {
  const wanted = names.map(peerOf)
  if (wanted.some(({ from }) => from.startsWith('npm install'))) {
    const fault = installNpmPeers()
    if (fault !== undefined) console.error(`MISSING npm peers could not be installed: ${fault}`)
  }
  return wanted.flatMap((peer) => {
    const found = peer.version()
    if (found === undefined) console.error(`MISSING ${peer.name}: not measured (${peer.from})`)
    return found === undefined ? [] : [{ ...peer, found }]
  })
}

async function compareOn(name: SiteName, peers: readonly Present[], options: CompareOptions): Promise<SiteResult> {
  const site = openSite(name, options.pages)
  const server = await openNginx(site.root, site.addresses)
  const bench: Bench = { site, server, concurrency: options.concurrency, timeoutMs: options.timeoutMs }
  const able = peers.filter(({ oneHost }) => oneHost !== true || site.addresses.length === 1)
  const rounds = new Map<string, Run[]>(able.map((peer) => [peer.name, []]))
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const peer of able.filter(({ slow }) => slow !== true || round === 1)) {
        const run = await runOnce(bench, peer)
        rounds.get(peer.name)?.push(run)
        say(`site ${name}, round ${round}`, peer, run)
      }
    }
    const crashes = options.kill ? await crashesOn(bench, able) : []
    const rows = able.map((peer): SpeedRow => ({
      peer: peer.name,
      version: peer.found,
      runs: rounds.get(peer.name) ?? [],
    }))
    return { site: name, pages: site.truth.size, hosts: site.addresses.length, rows, crashes }
  } finally {
    await server.close()
  }
}

async function crashesOn(bench: Bench, peers: readonly Present[]): Promise<readonly CrashRow[]> {
  const rows: CrashRow[] = []
  for (const peer of peers.filter(({ resumes }) => resumes === true)) {
    const run = await runKilled(bench, peer)
    if (run === undefined) {
      console.error(`MISSING ${peer.name}: over before half of the pages were seen, so it could not be killed there`)
      continue
    }
    say(`site ${bench.site.name}, kill -9 half way`, peer, run)
    rows.push({ peer: peer.name, version: peer.found, run })
  }
  return rows
}

function say(what: string, { name }: Peer, run: Run): void {
  const { measured, pages, missing, repeats, pagesPerSecond, cpuMsPerPage } = run
  const figures = `${Math.round(pagesPerSecond)} pages/s, ${cpuMsPerPage.toFixed(3)} CPU-ms/page, ${Math.round(measured.peakMiB)} MiB`
  console.error(`${what}: ${name} ${figures}, ${pages} pages, ${missing} missing, ${repeats} repeated`)
  if (measured.timedOut) console.error(`${name} was ended after ${Math.round(measured.seconds)} s`)
  else if (measured.code !== 0) console.error(`${name} ended with ${measured.code}: ${measured.output.slice(-1000)}`)
}

function peerOf(name: string): Peer {
  const peer = PEERS.find((candidate) => candidate.name === name)
  if (peer !== undefined) return peer
  throw new Error(`--peers: expected names out of ${PEERS.map((known) => known.name).join(', ')}, found ${name}`)
}

function siteNameOf(name: string): SiteName {
  const site = SITE_NAMES.find((known) => known === name)
  if (site !== undefined) return site
  throw new Error(`--sites: expected names out of ${SITE_NAMES.join(', ')}, found ${name}`)
}
