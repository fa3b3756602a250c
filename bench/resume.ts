/** Kills a crawl with SIGKILL again and again and measures how long it takes to the first request after each. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/core/clock.ts'
import { treeSite } from '../src/testing/site-shapes.ts'
import { openTestSite } from '../src/testing/site.ts'
import { median } from './lib/report.ts'

const MAIN = join(import.meta.dirname, '../dist/cli/main.js')

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '20000' }, kills: { type: 'string', default: '10' } },
})
const pages = Number(values.pages)
const kills = Number(values.kills)

function start(url: string, folder: string): ChildProcess {
  const places = ['--concurrency', '32', '--per-host', '32', '--delay', '0']
  return spawn(process.execPath, [MAIN, 'crawl', url, '--dir', folder, '--quiet', ...places], { stdio: 'inherit' })
}

if (!existsSync(MAIN)) throw new Error('dist is missing: npm run build')
const shape = treeSite(pages, 8)
const site = await openTestSite(shape.handler)
const folder = mkdtempSync(join(tmpdir(), 'spoor-resume-'))
const timesMs: number[] = []
for (let kill = 0; kill <= kills; kill += 1) {
  const before = site.log.length
  const startedAtMs = systemClock.monotonicMs()
  const child = start(site.url(shape.seed), folder)
  const exited = once(child, 'exit')
  await Promise.race([site.waitForRequests(before + 1), exited])
  const first = site.log[before]
  if (first === undefined) throw new Error('no request came: the crawl was over before the last kill, take more pages')
  // the first start has nothing to take up
  if (kill > 0) timesMs.push(first.atMs - startedAtMs)
  await Promise.race([site.waitForRequests(before + Math.floor(pages / (kills + 2))), exited])
  child.kill('SIGKILL')
  await exited
}
await site.close()
rmSync(folder, { recursive: true, force: true })
const [slowest, middle] = [Math.max(...timesMs), median(timesMs)].map(Math.round)
console.log(`first request after kill -9: median ${middle} ms, slowest ${slowest} ms (${kills} kills, ${pages} pages)`)
