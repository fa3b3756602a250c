/** Reading WARC records out of a stream of bytes, plain; tolerant of what real files hold, bounded in memory. */

import type { WarcRecord } from './contract.ts'
import { createByteReader, type ByteReader } from './byte-reader.ts'
import { parseFields } from './http-message.ts'

export interface ReadWarcOptions {
  /** Bytes of a block that are kept. Default 64 MiB. */
  readonly maxBlockBytes?: number
  /** What is not as it should be, and where (bytes from the start, after unpacking). Reading goes on. */
  readonly onFault?: (problem: string, offset: number) => void
}

const MAX_BLOCK_BYTES = 64 * 1024 * 1024
const MAX_LINE_BYTES = 64 * 1024
const MAX_FIELDS = 1000

/** Never throws for what the bytes say; only as their source does. */
export async function* readRecords(
  source: AsyncIterable<Uint8Array>,
  { maxBlockBytes = MAX_BLOCK_BYTES, onFault = () => undefined }: ReadWarcOptions = {},
): AsyncGenerator<WarcRecord> {
  const reader = createByteReader(source)
  for (;;) {
    const version = await findVersion(reader, onFault)
    if (version === undefined) return
    const at = reader.offset()
    const headers = parseFields(await readFields(reader))
    const length = headers.find(([name]) => name === 'content-length')?.[1]
    if (length === undefined || !/^\d{1,15}$/.test(length)) {
      onFault(`expected a Content-Length, found ${JSON.stringify(length?.slice(0, 40))}`, at)
      continue
    }
    const blockBytes = Number(length)
    const block = await reader.take(Math.min(blockBytes, maxBlockBytes))
    const skipped = await reader.skip(blockBytes - block.length)
    if (block.length + skipped < blockBytes)
      onFault(`expected ${blockBytes} bytes, found ${block.length + skipped}`, at)
    yield recordOf({ version, headers, block, blockBytes })
  }
}

/** The next line `WARC/1.x`; what stands before it, apart from empty lines, is a fault, told once. */
async function findVersion(
  reader: ByteReader,
  onFault: (problem: string, offset: number) => void,
): Promise<string | undefined> {
  let told = false
  for (;;) {
    const at = reader.offset()
    const line = await reader.line(MAX_LINE_BYTES)
    if (line === undefined) return undefined
    const version = /^WARC\/(\d+\.\d+)\s*$/.exec(line)?.[1]
    if (version !== undefined) return version
    if (told || line.trim() === '') continue
    onFault(`expected WARC/1.0 or WARC/1.1, found ${JSON.stringify(line.slice(0, 60))}`, at)
    told = true
  }
}

async function readFields(reader: ByteReader): Promise<readonly string[]> {
  const lines: string[] = []
  for (;;) {
    const line = await reader.line(MAX_LINE_BYTES)
    if (line === undefined || line === '') return lines
    if (lines.length < MAX_FIELDS) lines.push(line)
  }
}

interface ReadRecord {
  readonly version: string
  readonly headers: WarcRecord['headers']
  readonly block: Uint8Array
  readonly blockBytes: number
}

function recordOf({ version, headers, block, blockBytes }: ReadRecord): WarcRecord {
  const of = (wanted: string): string | undefined => headers.find(([name]) => name === wanted)?.[1]
  const dateMs = Date.parse(of('warc-date') ?? '')
  return {
    version,
    type: (of('warc-type') ?? '').toLowerCase(),
    headers,
    targetUri: of('warc-target-uri')?.replace(/^<(.*)>$/s, '$1'),
    dateMs: Number.isFinite(dateMs) ? dateMs : undefined,
    block,
    blockBytes,
    partial: block.length < blockBytes,
  }
}
