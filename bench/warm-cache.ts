/** Crawls a site twice, the second time out of the cache, and prints how much faster that is. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startCommand } from './lib/measure.ts'
import { openNginx } from './lib/nginx.ts'
import { median } from './lib/report.ts'
import { openSite, SITE_NAMES, type SiteName } from './lib/site.ts'

const MAIN = join(import.meta.dirname, '../dist/cli/main.js')
const RUN_WITHIN_MS = 600_000

const { values } = parseArgs({
  options: {
    /** `A` is real pages, `B` and `H` are generated. */
    site: { type: 'string', default: 'B' },
    pages: { type: 'string', default: '5000' },
    runs: { type: 'string', default: '3' },
    /** Further flags of `crawl`, one set after each: `--flags= --flags='--delay 1ms'`. */
    flags: { type: 'string', multiple: true, default: [''] },
  },
})

interface Run {
  readonly pages: number
  readonly fromCache: number
  /** Of the crawl itself: without the start of Node. */
  readonly perSecond: number
  /** Of the whole process. */
  readonly cpuMs: number
}

async function main(): Promise<void> {
  if (!existsSync(MAIN)) throw new Error('dist is missing: npm run build')
  const name = SITE_NAMES.find((known) => known === values.site)
  if (name === undefined) throw new Error(`--site: expected ${SITE_NAMES.join(', ')}, found ${values.site}`)
  for (const flags of values.flags) await compare(name, flags.split(' ').filter(Boolean))
}

async function compare(name: SiteName, flags: readonly string[]): Promise<void> {
  const site = openSite(name, Number(values.pages))
  const server = await openNginx(site.root, site.addresses)
  const seeds = site.addresses.map((address) => `http://${address}:${server.port}${site.seedPath}`)
  const folder = mkdtempSync(join(tmpdir(), 'spoor-bench-warm-'))
  try {
    console.log(`site ${name}, Node ${process.versions.node}, flags: ${flags.join(' ') || 'none'}`)
    const cold: Run[] = []
    const warm: Run[] = []
    for (let run = 0; run < Number(values.runs); run += 1) {
      cold.push(await crawl(folder, [...seeds, '--cache', 'refresh', ...flags]))
      await server.flushLog()
      server.log.forget()
      warm.push(await crawl(folder, [...seeds, ...flags]))
      await server.flushLog()
      if (server.log.coverage(site.truth).pages > 0) throw new Error('a warm crawl asked the server for pages')
      console.log(`  run ${run + 1}: ${lineOf(cold.slice(-1))} cold, ${lineOf(warm.slice(-1))} warm`)
    }
    const of = (runs: readonly Run[]): number => median(runs.map((run) => run.perSecond))
    console.log(
      `  medians: ${lineOf(cold)} cold, ${lineOf(warm)} warm; ${(of(warm) / of(cold)).toFixed(1)} times as fast`,
    )
  } finally {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function crawl(folder: string, args: readonly string[]): Promise<Run> {
  const settings = ['--fresh', '--quiet', '--json', '--dir', join(folder, 'data')]
  const command = { file: process.execPath, args: [MAIN, 'crawl', ...args, ...settings], cwd: folder }
  const { output, cpuMs } = await startCommand(command, RUN_WITHIN_MS).ended
  const line = output.split('\n').find((text) => text.startsWith('{'))
  if (line === undefined) throw new Error(`expected the summary of a crawl, found ${output}`)
  const { pages, fromCache, seconds } = JSON.parse(line) as Record<'pages' | 'fromCache' | 'seconds', number>
  return { pages, fromCache, perSecond: pages / seconds, cpuMs: cpuMs / pages }
}

function lineOf(runs: readonly Run[]): string {
  const of = (key: keyof Run): number => median(runs.map((run) => run[key]))
  return `${of('pages')} pages, ${of('fromCache')} of them kept, ${Math.round(of('perSecond'))} pages/s, ${of('cpuMs').toFixed(3)} CPU-ms/page`
}

await main()
