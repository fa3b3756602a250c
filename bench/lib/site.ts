/** The sites that are crawled: folders that nginx serves, and the truth of what can be reached in them. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../src/util/random.ts'
import type { Random } from '../../src/util/random.ts'
import { openDocumentationSite } from './documentation-site.ts'
import { pageKey } from './request-log.ts'

export interface Site {
  readonly name: string
  /** What a web server serves. */
  readonly root: string
  readonly addresses: readonly string[]
  /** One on each address. */
  readonly seedPath: string
  /** The page keys (request-log.ts) of all that can be reached from the seeds over `<a href>`. */
  readonly truth: ReadonlySet<string>
}

interface GeneratedSiteOptions {
  readonly pages: number
  /** Links on each page, all `<a href>` within the site. */
  readonly linksPerPage: number
  /** Sizes are spread evenly between the two, in bytes. */
  readonly pageBytes: readonly [number, number]
}

export const SITE_NAMES = ['A', 'B', 'H'] as const
export type SiteName = (typeof SITE_NAMES)[number]

const LOOPBACK = ['127.0.0.1']
/** Addresses of their own for the site of many hosts. */
const MANY_HOSTS = Array.from({ length: 50 }, (_, host) => `127.0.9.${host + 1}`)
/** Pages of 8 to 11 KB with 40 links each. */
const SHAPE = { linksPerPage: 40, pageBytes: [8_000, 11_000] } as const

/** `pages` is for the generated sites, H has a fiftieth of them on each address; A is as it is. */
export function openSite(name: SiteName, pages: number): Site {
  if (name === 'A') return openDocumentationSite()
  if (name === 'B') return generatedSite(name, LOOPBACK, pages)
  return generatedSite(name, MANY_HOSTS, Math.ceil(pages / MANY_HOSTS.length))
}

function generatedSite(name: SiteName, addresses: readonly string[], pages: number): Site {
  const root = writeGeneratedSite({ ...SHAPE, pages })
  const paths = Array.from({ length: pages }, (_, page) => `/${pathOf(page)}`)
  const truth = new Set(addresses.flatMap((address) => paths.map((path) => pageKey(address, path))))
  return { name, root, addresses, seedPath: `/${pathOf(0)}`, truth }
}

const PAGES_PER_FOLDER = 500
/** Children of a page in the tree that makes every page reachable; the other links go anywhere. */
const FANOUT = 10
const WORDS =
  'river stone market winter garden paper signal harbour copper morning bridge village engine letter station valley mirror orchard candle timber'.split(
    ' ',
  )

/** Answers at once when the same site was written before. */
function writeGeneratedSite(options: GeneratedSiteOptions): string {
  const { pages, linksPerPage, pageBytes } = options
  const root = join(tmpdir(), `spoor-bench-${pages}-${linksPerPage}-${pageBytes.join('-')}`)
  const complete = join(root, '.complete')
  if (existsSync(complete)) return root
  const random = seededRandom(pages)
  for (let page = 0; page < pages; page += 1) {
    if (page % PAGES_PER_FOLDER === 0) mkdirSync(join(root, folderOf(page)), { recursive: true })
    writeFileSync(join(root, pathOf(page)), pageOf(page, options, random))
  }
  writeFileSync(complete, '')
  return root
}

function pageOf(page: number, { pages, linksPerPage, pageBytes }: GeneratedSiteOptions, random: Random): string {
  const targets: number[] = []
  for (let child = page * FANOUT + 1; child <= page * FANOUT + FANOUT && child < pages; child += 1) targets.push(child)
  while (targets.length < linksPerPage) targets.push(Math.floor(random() * pages))
  const [least, most] = pageBytes
  const size = least + Math.floor(random() * (most - least))
  const parts = [`<!doctype html>\n<html><head><meta charset="utf-8"><title>Page ${page}</title></head><body>\n`]
  const textBytes = Math.max(0, size - targets.length * 60 - 200)
  for (const target of targets) {
    parts.push(`<p>${words(textBytes / targets.length, random)} <a href="/${pathOf(target)}">page ${target}</a></p>\n`)
  }
  parts.push('</body></html>\n')
  return parts.join('')
}

function words(bytes: number, random: Random): string {
  const chosen: string[] = []
  for (let length = 0; length < bytes;) {
    const word = WORDS[Math.floor(random() * WORDS.length)] ?? ''
    chosen.push(word)
    length += word.length + 1
  }
  return chosen.join(' ')
}

function folderOf(page: number): string {
  return `d${String(Math.floor(page / PAGES_PER_FOLDER)).padStart(4, '0')}`
}

function pathOf(page: number): string {
  return `${folderOf(page)}/p${String(page).padStart(6, '0')}.html`
}
