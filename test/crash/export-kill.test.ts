import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/util/random.ts'
import { readCsv, readJsonl, readParquet, readSqlite } from '../unit/items/read-export.ts'
import { itemAt } from './export-items.ts'

const CHILD = fileURLToPath(new URL('export-child.ts', import.meta.url))
const COUNT = 5000
const KILLS = 6

/** Runs the child until it has written `killAt` items, then kills it; undefined: to its end. Answers whether it ended. */
async function run(folder: string, file: string, killAt: number | undefined): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'jiti/register', CHILD, folder, file, String(COUNT)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let hasEnded = false
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'end') hasEnded = true
    else if (killAt !== undefined && Number(line) >= killAt) child.kill('SIGKILL')
  }
  return hasEnded
}

describe.each([
  ['jsonl', readJsonl],
  ['csv', readCsv],
  ['sqlite', readSqlite],
  ['parquet', readParquet],
] as const)('an export to %s whose process is killed', (format, read) => {
  it(`holds each item exactly once after ${String(KILLS)} kills`, { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spoor-kill-'))
    const file = join(folder, `out.${format}`)
    const random = seededRandom(format.length * 31)
    try {
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const killAt = Math.floor(((kill - random()) * COUNT) / KILLS)
        await run(folder, file, killAt)
      }
      expect(await run(folder, file, undefined)).toBe(true)
      const found = await read(file)
      expect(found).toHaveLength(COUNT)
      expect(found).toEqual(Array.from({ length: COUNT }, (_, index) => itemAt(index + 1)))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
