/** Writes the generated sites of the bench into folders, once for each set of parameters. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../src/util/random.ts'
import type { Random } from '../../src/util/random.ts'

export interface SiteFolder {
  /** What a web server serves. */
  readonly root: string
  readonly seedPath: string
  /** The truth: how many pages can be reached from the seed. */
  readonly pages: number
}

export interface GeneratedSiteOptions {
  readonly pages: number
  /** Links on each page, all `<a href>` within the site. */
  readonly linksPerPage: number
  /** Sizes are spread evenly between the two, in bytes. */
  readonly pageBytes: readonly [number, number]
}

/** 50,000 pages of 8 to 11 KB with 40 links each. */
export const SITE_B: GeneratedSiteOptions = { pages: 50_000, linksPerPage: 40, pageBytes: [8_000, 11_000] }

const PAGES_PER_FOLDER = 500
/** Children of a page in the tree that makes every page reachable; the other links go anywhere. */
const FANOUT = 10
const WORDS =
  'river stone market winter garden paper signal harbour copper morning bridge village engine letter station valley mirror orchard candle timber'.split(
    ' ',
  )

/** Answers at once when the same site was written before. */
export function writeGeneratedSite(options: GeneratedSiteOptions): SiteFolder {
  const { pages, linksPerPage, pageBytes } = options
  const root = join(tmpdir(), `spoor-bench-${pages}-${linksPerPage}-${pageBytes.join('-')}`)
  const complete = join(root, '.complete')
  const site = { root, seedPath: pathOf(0), pages }
  if (existsSync(complete)) return site
  const random = seededRandom(pages)
  for (let page = 0; page < pages; page += 1) {
    if (page % PAGES_PER_FOLDER === 0) mkdirSync(join(root, folderOf(page)), { recursive: true })
    writeFileSync(join(root, pathOf(page)), pageOf(page, options, random))
  }
  writeFileSync(complete, '')
  return site
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
