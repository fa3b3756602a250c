/** The CDXJ file beside a WARC file: lines are added as records are written, and sorted at the end. */

import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { parseIndexLine } from '../../warc/cdxj.ts'
import { linesOf } from './captures.ts'

/** A larger one is left in the order of writing. */
const MAX_SORTED_BYTES = 256 * 1024 * 1024

/** Offset of the last record that the index knows of. */
export async function readIndex(file: string, filename: string): Promise<number> {
  let last = 0
  for await (const text of linesOf(file)) {
    const line = parseIndexLine(text)
    if (line?.filename === filename) last = Math.max(last, line.offset)
  }
  return last
}

/** Readers search it by halves. Replaced whole. */
export async function sortIndex(file: string): Promise<void> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  )
  if (size === 0 || size > MAX_SORTED_BYTES) return
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => parseIndexLine(line) !== undefined)
  // By bytes, as other tools sort and search it.
  const sorted = lines.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const beside = `${file}.tmp`
  try {
    await writeFile(beside, `${sorted.join('\n')}\n`)
    await rename(beside, file)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}
