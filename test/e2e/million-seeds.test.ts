/** A list of a million sites in a zip: the first page is fetched at once, and the list is read no faster than it is used. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { openSeedFile } from '../../src/sources/seed-file.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const ROWS = 1_000_000

/** An archive of one file, as small as the format allows. */
function zipOf(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content, { level: 1 })
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt16LE(8, 4)
  common.writeUInt32LE(packed.length, 14)
  common.writeUInt32LE(content.length, 18)
  common.writeUInt16LE(name.length, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, Buffer.alloc(14), Buffer.from(name)])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, central, end])
}

it('streams it', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(() => ({}))
  const { host } = new URL(site.url('/'))
  const rows = Array.from({ length: ROWS }, (_, index) => `${index + 1},${host}/p${index}\n`)
  const list = join(folder.path, 'top-1m.csv.zip')
  await writeFile(list, zipOf('top-1m.csv', Buffer.from(rows.join(''))))

  let count = 0
  for await (const seed of openSeedFile(list)) if ('url' in seed) count++
  expect(count).toBe(ROWS)

  const dir = join(folder.path, 'data')
  const end = await runSpoor(['crawl', '--seeds', list, '--dir', dir, '--max-pages', '5', '--json'])
  expect(end, end.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(end.stdout)).toMatchObject({ finishReason: 'max-pages', pages: 5 })
  const { pending } = JSON.parse((await runSpoor(['status', '--dir', dir, '--json'])).stdout) as { pending: number }
  expect(pending).toBeLessThan(ROWS / 10)
})
