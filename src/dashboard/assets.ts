/** The files of the page, read once: they are few and small. */

import { readFile, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Asset {
  readonly body: Buffer
  readonly type: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By path; `/` is the page itself. They stand beside this file in what was built. */
export async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const folder = fileURLToPath(new URL('page/', import.meta.url))
  const assets = new Map<string, Asset>()
  for (const name of await readdir(folder)) {
    const type = TYPES[extname(name)]
    // oxlint-disable-next-line no-await-in-loop -- four files
    if (type !== undefined)
      assets.set(name === 'index.html' ? '/' : `/${name}`, { body: await readFile(join(folder, name)), type })
  }
  return assets
}
