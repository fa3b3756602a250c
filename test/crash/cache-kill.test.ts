/** Caches and WARC files after kill -9: what was acknowledged is there, whole; what was under way harms nobody. */

import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CacheStore } from '../../src/cache/contract.ts'
import { cacheKeyOf } from '../../src/cache/key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openFilesCache } from '../../src/stores/files-cache/store.ts'
import { openSqliteCache } from '../../src/stores/sqlite-cache/store.ts'
import { readWarc } from '../../src/stores/warc/reader.ts'
import { openWarcWriter } from '../../src/stores/warc/writer.ts'
import { cachePage } from './cache-pages.ts'

const CHILD = fileURLToPath(new URL('cache-child.ts', import.meta.url))

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'spoor-cache-kill-'))
})
afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

/** Lets the child go on from page `from` until it has acknowledged so many, and kills it there. */
async function fillAndKill(
  kind: string,
  dir: string,
  { from, pages }: { from: number; pages: number },
): Promise<string[]> {
  const child = spawn(process.execPath, ['--import', 'jiti/register', CHILD, kind, dir, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) {
    text += String(chunk)
    if (text.split('\n').length > pages) child.kill('SIGKILL')
  }
  return text.split('\n').slice(0, -1)
}

it.each(['sqlite', 'files'])(
  'the %s cache and the WARC keep what they acknowledged, over three kills',
  async (kind) => {
    const dir = join(root, 'cache')
    const acknowledged: string[] = []
    for (const round of [0, 1, 2]) {
      const urls = await fillAndKill(kind, dir, { from: round * 1000, pages: 37 + round * 20 })
      expect(urls.length).toBeGreaterThan(30)
      acknowledged.push(...urls)
    }
    const store: CacheStore = kind === 'sqlite' ? await openSqliteCache({ dir }) : await openFilesCache({ dir })
    for (const url of acknowledged) {
      const answer = await store.get({ key: cacheKeyOf({ url }), url })
      const { body } = cachePage(Number(url.split('-').at(-1)))
      expect(Buffer.from(answer?.body ?? []).equals(body), url).toBe(true)
    }
    // whatever else is listed is whole as well
    for (const entry of (await store.list({}, { max: 1000 })).entries) {
      expect((await store.get(entry))?.body.length, entry.url).toBe(entry.bodyBytes)
    }
    await store.close()
    await expectWarc(join(`${dir}-warc`, 'w.warc.gz'), acknowledged)
  },
  60_000,
)

async function expectWarc(file: string, urls: readonly string[]): Promise<void> {
  await (await openWarcWriter({ path: file, clock: systemClock })).close()
  const faults: string[] = []
  const answers = new Map<string, number>()
  let requests = 0
  for await (const record of readWarc(createReadStream(file), { onFault: (problem) => faults.push(problem) })) {
    if (record.type === 'request') requests += 1
    if (record.type !== 'response') continue
    expect(record.partial).toBe(false)
    answers.set(record.targetUri ?? '', record.block.length)
  }
  expect(faults).toEqual([])
  expect(requests).toBe(answers.size)
  for (const url of urls) {
    const { body } = cachePage(Number(url.split('-').at(-1)))
    expect(answers.get(url) ?? 0, url).toBeGreaterThan(body.length)
  }
}
