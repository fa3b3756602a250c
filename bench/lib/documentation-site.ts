/** Site A: real pages, out of Debian's documentation packages, joined by one index page. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pagesReachableFrom } from './reachable.ts'
import { pageKey } from './request-log.ts'
import type { Site } from './site.ts'

const PACKAGES = ['debian-handbook', 'openjdk-17-doc', 'postgresql-doc-15', 'python3.11-doc']
/** Where each begins, below /usr/share/doc. */
const ENTRIES = [
  'openjdk-17-jre-headless/api/index.html',
  'postgresql-doc-15/html/index.html',
  'python3.11/html/index.html',
  'debian-handbook/html/en-US/index.html',
]
const SEED_PATH = '/index.html'
const ADDRESS = '127.0.0.1'

/** The packages are unpacked into a folder of their own and not installed: that needs no rights. Done once. */
export function openDocumentationSite(): Site {
  const folder = join(tmpdir(), 'spoor-bench-documentation')
  const root = join(folder, 'usr/share/doc')
  const known = join(folder, 'reachable.json')
  if (!existsSync(known)) {
    unpack(folder)
    writeFileSync(join(root, SEED_PATH), indexPage())
    writeFileSync(known, JSON.stringify(pagesReachableFrom(root, SEED_PATH)))
  }
  const paths = JSON.parse(readFileSync(known, 'utf8')) as readonly string[]
  const truth = new Set(paths.map((path) => pageKey(ADDRESS, path)))
  return { name: 'A', root, addresses: [ADDRESS], seedPath: SEED_PATH, truth }
}

function unpack(folder: string): void {
  mkdirSync(folder, { recursive: true })
  run('apt-get', ['download', ...PACKAGES], folder)
  for (const archive of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    run('dpkg-deb', ['--extract', archive, '.'], folder)
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status === 0) return
  throw new Error(
    `site A is made of the Debian packages ${PACKAGES.join(', ')}: expected \`${command} ${args.join(' ')}\` to end with 0, ` +
      `found ${error?.message ?? `${status}: ${stderr.trim()}`}; on Debian 12 run apt-get update first, elsewhere take --sites B,H`,
  )
}

function indexPage(): string {
  const links = ENTRIES.map((entry) => `<li><a href="/${entry}">${entry}</a></li>`)
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Documentation</title></head><body><ul>${links.join('')}</ul></body></html>\n`
}
