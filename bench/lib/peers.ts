/** The crawlers that are compared, each with the settings that suit it best. */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from './measure.ts'
import { scriptPath, versionOfPackage } from './npm-peers.ts'

export interface Job {
  readonly seeds: readonly string[]
  readonly concurrency: number
  /** The crawler's own; on a RAM disk for those that keep files, so that they do not wait for a disk. */
  readonly folder: string
  /** With whatever the crawler has to go on after a crash. */
  readonly durable: boolean
  /** A crawl was begun in this folder and killed. */
  readonly resumed: boolean
}

export interface Peer {
  readonly name: string
  /** undefined: it cannot be run here. */
  version(): string | undefined
  /** How to get it. */
  readonly from: string
  command(job: Job): Omit<Command, 'cwd'>
  /** Writes each page into a file. */
  readonly keepsFiles?: boolean
  /** Takes one seed only, so that it cannot crawl many hosts. */
  readonly oneHost?: boolean
  /** Can take up a crawl that was killed. */
  readonly resumes?: boolean
  /** Takes minutes: run in the first round only. */
  readonly slow?: boolean
  /** Only when it is named. */
  readonly optional?: boolean
}

const BENCH = join(import.meta.dirname, '..')
const MAIN = join(BENCH, '../dist/cli/main.js')

/** What wget2 would follow beside `a`: other peers follow `a` only. */
const OTHER_TAGS =
  'applet,area,audio,base,bgsound,body,embed,fig,form,frame,iframe,img,input,layer,link,meta,object,overlay,script,source,table,td,th,track,video'

const WGET2: Peer = {
  name: 'wget2',
  from: 'apt-get install wget2',
  version: () => versionFrom('wget2', /GNU Wget2 (\S+)/),
  keepsFiles: true,
  command: ({ seeds, folder }) => {
    const settings = ['--recursive', '--level=0', '--no-robots', '--max-threads=16', '--tries=1', '--no-compression']
    return { file: 'wget2', args: ['--quiet', ...settings, `--ignore-tags=${OTHER_TAGS}`, '-P', folder, ...seeds] }
  },
}

const HTTRACK: Peer = {
  name: 'httrack',
  from: 'apt-get install httrack',
  version: () => versionFrom('httrack', /HTTrack version ([\d.-]+\d)/),
  keepsFiles: true,
  resumes: true,
  command: ({ seeds, folder, durable, resumed }) => {
    // -A with a higher figure throttles it
    const speed = ['-s0', '-c8', '-%c5000', '-A100000000', '--disable-security-limits', '-R0', '-T30']
    // -B: up and down from the seed's folder
    const extent = ['-r9999', '-B', '-p1', '-o0', '-b0', '-I0', '-Q', '-q']
    const cache = durable ? ['-C1'] : ['-C0']
    return {
      file: 'httrack',
      args: [...(resumed ? ['--continue'] : []), ...seeds, '-O', folder, ...speed, ...extent, ...cache],
    }
  },
}

const SCRAPY_SETTINGS: Readonly<Record<string, string>> = {
  CONCURRENT_REQUESTS: '64',
  CONCURRENT_REQUESTS_PER_DOMAIN: '64',
  ROBOTSTXT_OBEY: 'False',
  RETRY_ENABLED: 'False',
  COOKIES_ENABLED: 'False',
  REFERER_ENABLED: 'False',
  TELNETCONSOLE_ENABLED: 'False',
  DOWNLOAD_DELAY: '0',
  LOG_LEVEL: 'ERROR',
}

const SCRAPY: Peer = {
  name: 'scrapy',
  from: 'apt-get install python3-scrapy',
  version: () => versionFrom('scrapy', /Scrapy (\S+)/, 'version'),
  resumes: true,
  slow: true,
  command: ({ seeds, folder, durable }) => {
    const settings = { ...SCRAPY_SETTINGS, ...(durable ? { JOBDIR: join(folder, 'job') } : {}) }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${value}`])
    return {
      file: 'scrapy',
      args: ['runspider', ...flags, join(BENCH, 'peers/scrapy_spider.py')],
      env: { BENCH_SEEDS: JSON.stringify(seeds) },
    }
  },
}

function spoor(name: string, processes: number): Peer {
  return {
    name,
    from: 'npm run build',
    version: () => (existsSync(MAIN) ? versionOfSpoor() : undefined),
    resumes: true,
    command: ({ seeds, folder, concurrency }) => {
      const places = ['--concurrency', String(concurrency), '--per-host', String(concurrency)]
      const settings = ['--delay', '0', '--no-robots', '--cache', 'off', '--quiet', '--ok-with-failures']
      const dir = ['--dir', join(folder, 'data'), '--processes', String(processes)]
      return { file: process.execPath, args: [MAIN, 'crawl', ...seeds, ...dir, ...settings, ...places] }
    },
  }
}

/** A script of bench/peers over packages from the registry. */
function npmPeer(script: string, packageName: string, traits: Partial<Peer> & { readonly concurrency?: number }): Peer {
  const { concurrency, ...others } = traits
  return {
    name: script,
    from: `npm install ${packageName}`,
    version: () => versionOfPackage(packageName),
    command: (job) => {
      const input = { ...job, concurrency: concurrency ?? job.concurrency }
      return {
        file: process.execPath,
        args: [scriptPath(script), JSON.stringify(input)],
        // Crawlee: where its disk queue lies, and no limit to the memory it thinks it may use
        env: { CRAWLEE_STORAGE_DIR: join(job.folder, 'storage'), CRAWLEE_MEMORY_MBYTES: '8192' },
      }
    },
    ...others,
  }
}

/** The first is what the others are compared with. */
export const PEERS: readonly Peer[] = [
  WGET2,
  spoor('spoor', 1),
  spoor('spoor-2', 2),
  npmPeer('spider', '@spider-rs/spider-rs', { oneHost: true }),
  npmPeer('node-crawler', 'crawler', {}),
  npmPeer('crawlee-basic', '@crawlee/basic', { concurrency: 32, resumes: true }),
  npmPeer('simplecrawler', 'simplecrawler', { concurrency: 32 }),
  HTTRACK,
  SCRAPY,
  npmPeer('crawlee-cheerio', '@crawlee/cheerio', { concurrency: 128, slow: true, optional: true }),
]

function versionFrom(command: string, pattern: RegExp, argument = '--version'): string | undefined {
  const { stdout, stderr } = spawnSync(command, [argument], { encoding: 'utf8' })
  return pattern.exec(`${stdout ?? ''}${stderr ?? ''}`)?.[1]
}

function versionOfSpoor(): string {
  const manifest = readFileSync(join(BENCH, '../package.json'), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
