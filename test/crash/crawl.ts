/** A crawl of a made site by the built command, and what must be true of its folder, its file and the site's log. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { SiteShape } from '../../src/testing/site-shapes.ts'
import type { TestSite } from '../../src/testing/site.ts'
import { runSpoor, startSpoor } from '../support/command.ts'
import type { CommandOptions, RunningCommand } from '../support/command.ts'

export interface CrawlFixture {
  readonly site: TestSite
  readonly shape: SiteShape
  /** The data folder. */
  readonly dir: string
  /** The exported JSON Lines. */
  readonly output: string
  readonly concurrency: number
}

export function crawlFixture(
  site: TestSite,
  shape: SiteShape,
  places: { readonly dir: string; readonly output?: string; readonly concurrency?: number },
): CrawlFixture {
  const { dir, output = join(dir, 'out.jsonl'), concurrency = 8 } = places
  return { site, shape, dir, output, concurrency }
}

export function startCrawl(
  fixture: CrawlFixture,
  options: CommandOptions & { readonly args?: readonly string[] } = {},
): RunningCommand {
  return startSpoor([...crawlArgs(fixture), ...(options.args ?? [])], options)
}

function crawlArgs({ site, shape, dir, output, concurrency }: CrawlFixture): string[] {
  const places = ['--concurrency', String(concurrency), '--per-host', String(concurrency), '--delay', '0']
  return ['crawl', site.url(shape.seed), '--dir', dir, '-o', output, '--quiet', '--json', ...places]
}

/** How often pages were asked for beyond their first time. */
export function repeatsOf({ site, shape }: CrawlFixture): number {
  const pages = site.log.filter(({ path }) => shape.depths.has(path))
  return pages.length - new Set(pages.map(({ path }) => path)).size
}

/** How many pages have been asked for at least once. */
export function visitedOf({ site, shape }: CrawlFixture): number {
  return new Set(site.log.map(({ path }) => path).filter((path) => shape.depths.has(path))).size
}

export async function expectSound({ dir }: CrawlFixture): Promise<void> {
  const end = await runSpoor(['verify', '--dir', dir, '--json'])
  expect(end.stderr + end.stdout).not.toMatch(/at .*:\d+:\d+\)/)
  expect(JSON.parse(end.stdout)).toEqual({ ok: true, problems: [] })
  expect(end.code).toBe(0)
}

/** Everything the promise says of a crawl that has come to its end. */
export async function expectComplete(fixture: CrawlFixture): Promise<void> {
  const { shape, site, dir, output } = fixture
  const text = await readFile(output, 'utf8')
  expect(text.endsWith('\n')).toBe(true)
  const records = text.slice(0, -1).split('\n').map(parseRecord)
  const wanted = new Map([...shape.depths].map(([path, depth]) => [site.url(path), depth]))
  expect(records.length).toBe(wanted.size)
  expect(new Map(records.map(({ url, depth }) => [url, depth]))).toEqual(wanted)

  const status = await runSpoor(['status', '--dir', dir, '--json'])
  expect(JSON.parse(status.stdout)).toMatchObject({ pending: 0, leased: 0, done: wanted.size, failed: 0 })
  await expectSound(fixture)
}

/** Of a crawl with `--graph`: each link of each page once. */
export async function expectAllLinks({ site, shape, dir }: CrawlFixture): Promise<void> {
  const wanted: string[] = []
  for (const path of shape.depths.keys()) {
    const request = { number: 1, visit: 1, atMs: 0, method: 'GET', host: '', path, headers: {} }
    const targets = new Set((await shape.handler(request))?.links)
    targets.delete(path)
    for (const target of targets) wanted.push(`${site.url(path)},${site.url(target)}`)
  }
  const { stdout } = await runSpoor(['graph', '--dir', dir, '-o', '-', '--format', 'csv'])
  const links = stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',', 2).join(','))
  expect(links.toSorted()).toEqual(wanted.toSorted())
}

function parseRecord(line: string): { readonly url: string; readonly depth: number } {
  return JSON.parse(line) as { readonly url: string; readonly depth: number }
}
