import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
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
async function run(
  folder: string,
  { file, perPart }: { readonly file: string; readonly perPart?: number },
  killAt?: number,
): Promise<boolean> {
  const part = perPart === undefined ? [] : [String(perPart)]
  const child = spawn(process.execPath, ['--import', 'jiti/register', CHILD, folder, file, String(COUNT), ...part], {
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
        await run(folder, { file }, killAt)
      }
      expect(await run(folder, { file })).toBe(true)
      const found = await read(file)
      expect(found).toHaveLength(COUNT)
      expect(found).toEqual(Array.from({ length: COUNT }, (_, index) => itemAt(index + 1)))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

it(
  'an export in parts whose process is killed holds each item exactly once, in parts of one size',
  {
    timeout: 300_000,
  },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spoor-kill-'))
    const file = join(folder, 'out.jsonl')
    const perPart = 700
    const random = seededRandom(5)
    try {
      // one of them right at the end of a part
      for (const at of [0, 2 * perPart, Math.floor(random() * COUNT)]) await run(folder, { file, perPart }, at)
      expect(await run(folder, { file, perPart })).toBe(true)
      const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).toSorted()
      expect(names).toEqual(Array.from({ length: 8 }, (_, index) => `out-0000${index + 1}.jsonl`))
      const parts = await Promise.all(names.map((name) => readJsonl(join(folder, name))))
      expect(parts.map((part) => part.length)).toEqual([...Array.from({ length: 7 }, () => perPart), 100])
      expect(parts.flat()).toEqual(Array.from({ length: COUNT }, (_, index) => itemAt(index + 1)))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)
