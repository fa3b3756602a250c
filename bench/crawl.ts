/** Crawls one site with each peer in turn and prints speed, processor time, memory and the ratios. */

import { availableParallelism, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { hasNginx, openNginx } from './lib/nginx.ts'
import { PEERS } from './lib/peers.ts'
import type { Peer, PeerRun } from './lib/peers.ts'
import { median } from './lib/report.ts'
import { SITE_B, writeGeneratedSite } from './lib/site.ts'

const { values } = parseArgs({
  options: {
    /** Pages of the site; 50,000 is site B. */
    pages: { type: 'string', default: String(SITE_B.pages) },
    /** Runs of each peer, in turn; medians are printed. */
    runs: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '64' },
    /** Names with commas; the first is what the others are compared with. */
    peers: { type: 'string', default: PEERS.map(({ name }) => name).join(',') },
  },
})

async function main(): Promise<void> {
  if (!hasNginx()) throw new Error('nginx is missing: apt-get install nginx')
  const peers = values.peers.split(',').map(peerOf)
  const site = writeGeneratedSite({ ...SITE_B, pages: Number(values.pages) })
  const server = await openNginx(site.root)
  const url = `${server.origin}/${site.seedPath}`
  const runs = new Map<string, PeerRun[]>(peers.map(({ name }) => [name, []]))
  console.log(
    `${site.pages} pages, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  )
  try {
    for (let run = 1; run <= Number(values.runs); run += 1) {
      for (const peer of peers) runs.get(peer.name)?.push(await measure(peer, url, site.pages))
    }
  } finally {
    await server.close()
  }
  report(runs, site.pages)
}

async function measure(peer: Peer, url: string, pages: number): Promise<PeerRun> {
  const result = await peer.run({ url, concurrency: Number(values.concurrency) })
  console.log(`run    ${lineOf(peer.name, [result], pages)}`)
  if (result.code !== 0) console.error(result.stderr.slice(-2000))
  return result
}

function peerOf(name: string): Peer {
  const peer = PEERS.find((candidate) => candidate.name === name)
  if (peer === undefined) throw new Error(`no peer ${name}: expected ${PEERS.map((known) => known.name).join(', ')}`)
  const missing = peer.missing()
  if (missing !== undefined) throw new Error(`${name} cannot be run: ${missing} is missing`)
  return peer
}

function report(runs: ReadonlyMap<string, readonly PeerRun[]>, pages: number): void {
  console.log('\nmedians')
  const [reference] = runs.keys()
  const speeds = new Map([...runs].map(([name, results]) => [name, median(results.map(speedOf))]))
  const costs = new Map([...runs].map(([name, results]) => [name, median(results.map(costOf))]))
  for (const [name, results] of runs) console.log(lineOf(name, results, pages))
  for (const [name, speed] of speeds) {
    if (name === reference || reference === undefined) continue
    const cost = costs.get(name) ?? 0
    console.log(`${name} : ${reference} = ${(speed / (speeds.get(reference) ?? speed)).toFixed(2)} (pages/s)`)
    console.log(`${name} : ${reference} = ${(cost / (costs.get(reference) ?? cost)).toFixed(2)} (CPU-ms/page)`)
  }
  // a run that lost a page is no measurement
  if ([...runs.values()].flat().some((run) => run.pages !== pages || run.code !== 0)) process.exitCode = 1
}

function lineOf(name: string, results: readonly PeerRun[], pages: number): string {
  const cells = [
    `${Math.round(median(results.map(speedOf)))} pages/s`,
    `${median(results.map(costOf)).toFixed(3)} CPU-ms/page`,
    `${Math.round(median(results.map((run) => run.peakMiB)))} MiB peak`,
    `${Math.min(...results.map((run) => run.pages))} of ${pages} pages`,
  ]
  return `${name.padEnd(8)}${cells.map((cell) => cell.padStart(22)).join('')}`
}

function costOf(run: PeerRun): number {
  return run.cpuMs / Math.max(1, run.pages)
}

function speedOf(run: PeerRun): number {
  return run.pages / run.seconds
}

await main()
