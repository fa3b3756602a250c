/** A crawl by the built command of hosts that all lead to one test site. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestSite } from '../../src/testing/site.ts'
import { runSpoor } from '../support/command.ts'
import type { CommandEnd } from '../support/command.ts'

export interface HostsCrawl {
  readonly site: TestSite
  /** The folder of this test: data, seeds and output are in it. */
  readonly folder: string
  readonly seeds: readonly string[]
  readonly args?: readonly string[]
}

/** Names of hosts that end in `.test` are connected to the site. */
export async function crawlHosts({ site, folder, seeds, args = [] }: HostsCrawl): Promise<CommandEnd> {
  const seedsFile = join(folder, 'seeds.txt')
  await writeFile(seedsFile, seeds.join('\n'))
  const places = ['--seeds', seedsFile, '--dir', join(folder, 'data'), '-o', join(folder, 'out.jsonl')]
  const network = ['--connect-to', `::127.0.0.1:${site.port}`, '--quiet', '--json']
  // the first rule of --connect-to that fits decides: the test's own come first
  return runSpoor(['crawl', ...places, ...args, ...network])
}

/** URLs of the items, in the order of the output file. */
export async function urlsOf(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'out.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { readonly url: string }).url)
}

/** `http://host/1` … `http://host/count`. */
export function numberedUrls(host: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `http://${host}/${index + 1}`)
}
