/** Writes a result that is no list of items to the file of `-o`: beside its place first, so that a reader sees all of it. */

import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CrawlError } from '../core/errors.ts'
import type { CommandContext } from './command.ts'

/** `-` is stdout. Rejects with EXPORT_FAILED. */
export async function writeResult(
  { host, output }: Pick<CommandContext, 'host' | 'output'>,
  file: string,
  pieces: AsyncIterable<string>,
): Promise<void> {
  if (file === '-') {
    for await (const piece of inBlocks(pieces)) await output.write(piece)
    return
  }
  const path = resolve(host.cwd, file)
  const draft = `${path}.spoor-tmp`
  let stage: 'reading' | 'writing' = 'reading'
  try {
    const stream = createWriteStream(draft)
    stream.once('error', () => {
      stage = 'writing'
    })
    await pipeline(Readable.from(inBlocks(pieces)), stream)
    stage = 'writing'
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    if (stage === 'reading') throw error
    const problem = error instanceof Error ? error.message : String(error)
    throw new CrawlError('EXPORT_FAILED', { context: { file, problem }, cause: error })
  }
}

const BLOCK_CHARS = 64 * 1024

/** Few large writes instead of many small ones. */
async function* inBlocks(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let block = ''
  for await (const piece of pieces) {
    block += piece
    if (block.length < BLOCK_CHARS) continue
    yield block
    block = ''
  }
  if (block !== '') yield block
}
