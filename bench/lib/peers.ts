/** The crawlers that are compared, each with the settings that suit it best. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureCommand } from './measure.ts'
import type { Measurement } from './measure.ts'

export interface PeerRun extends Measurement {
  readonly pages: number
}

export interface PeerOptions {
  readonly url: string
  readonly concurrency: number
}

export interface Peer {
  readonly name: string
  /** undefined: it can be run; otherwise what is missing. */
  missing(): string | undefined
  run(options: PeerOptions): Promise<PeerRun>
}

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js')

/** What wget2 would follow beside `a`: other peers follow `a` only. */
const OTHER_TAGS =
  'applet,area,audio,base,bgsound,body,embed,fig,form,frame,iframe,img,input,layer,link,meta,object,overlay,script,source,table,td,th,track,video'

export const PEERS: readonly Peer[] = [
  {
    name: 'wget2',
    missing: () => (spawnSync('wget2', ['--version'], { stdio: 'ignore' }).status === 0 ? undefined : 'wget2'),
    run: async ({ url }) => {
      // a RAM disk where there is one: wget2 is not to be slowed down by its files
      const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'spoor-wget2-'))
      const settings = ['--recursive', '--level=0', '--no-robots', '--max-threads=16', '--tries=1', '--no-compression']
      const args = ['--quiet', ...settings, `--ignore-tags=${OTHER_TAGS}`, '-P', folder, url]
      const measured = await measureCommand('wget2', args, folder)
      const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
      rmSync(folder, { recursive: true, force: true })
      return { ...measured, pages: pages.length }
    },
  },
  {
    name: 'spoor',
    missing: () => (existsSync(MAIN) ? undefined : 'dist (npm run build)'),
    run: async ({ url, concurrency }) => {
      const folder = mkdtempSync(join(tmpdir(), 'spoor-bench-data-'))
      const places = ['--concurrency', String(concurrency), '--per-host', String(concurrency)]
      const settings = ['--delay', '0', '--no-robots', '--cache', 'off', '--quiet', '--json', ...places]
      const dir = ['--dir', join(folder, 'data')]
      const measured = await measureCommand(process.execPath, [MAIN, 'crawl', url, ...dir, ...settings], folder)
      const pages = measured.code === 0 ? distinctPages(dir, folder) : 0
      rmSync(folder, { recursive: true, force: true })
      return { ...measured, pages }
    },
  },
]

/** Counted from what the store holds after the run, not from what the run says of itself. */
function distinctPages(dir: readonly string[], folder: string): number {
  const exported = spawnSync(process.execPath, [MAIN, 'export', ...dir, '-o', '-', '--format', 'jsonl'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  const urls = exported.stdout.split('\n').filter(Boolean)
  return new Set(urls.map((line) => (JSON.parse(line) as { readonly url: string }).url)).size
}
