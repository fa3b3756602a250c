/** A write-ahead log whose last frame was only half written is repaired on the next start. */

import { open, readFile, readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, untilRequests } from '../support/command.ts'
import { crawlFixture, expectComplete, expectSound, startCrawl } from './crawl.ts'

const PAGES = 1500
const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

interface LastFrame {
  readonly file: string
  /** Where the last frame of the current generation begins. */
  readonly offset: number
  readonly bytes: number
}

/** Older generations stay in the file behind the current one; a frame is current when its salts are the header's. */
async function lastFrameOf(dir: string): Promise<LastFrame> {
  const names = await readdir(dir, { recursive: true })
  const name = names.find((candidate) => candidate.endsWith('-wal'))
  if (name === undefined) throw new Error(`no write-ahead log in ${dir}: ${names.join(', ')}`)
  const file = join(dir, name)
  const wal = await readFile(file)
  const bytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8)
  const salts = wal.subarray(16, 24)
  let offset = WAL_HEADER_BYTES
  const isCurrent = (at: number): boolean => at + bytes <= wal.length && wal.subarray(at + 8, at + 16).equals(salts)
  while (isCurrent(offset + bytes)) offset += bytes
  return { file, offset, bytes }
}

it.each([
  {
    title: 'cut in the middle of its last page',
    tear: ({ file, offset, bytes }: LastFrame) => truncate(file, offset + bytes / 2),
  },
  { title: 'cut at the head of its last page', tear: ({ file, offset }: LastFrame) => truncate(file, offset + 7) },
  {
    title: 'with zeros in the half of its last page',
    tear: async ({ file, offset, bytes }: LastFrame): Promise<void> => {
      const handle = await open(file, 'r+')
      await handle.write(Buffer.alloc(bytes / 2), 0, bytes / 2, offset + bytes / 2)
      await handle.close()
    },
  },
])('goes on with a write-ahead log $title', { timeout: 300_000 }, async ({ tear }) => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(PAGES, 8, { delayMs: 2 })
  await using site = await openTestSite(shape.handler)
  const fixture = crawlFixture(site, shape, { dir: folder.path })

  const command = startCrawl(fixture)
  await untilRequests(site, PAGES / 3, command)
  await command.kill()
  await tear(await lastFrameOf(folder.path))

  await expectSound(fixture)
  expect(await startCrawl(fixture).ended).toMatchObject({ code: 0 })
  await expectComplete(fixture)
})
