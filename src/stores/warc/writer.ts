/** Writes WARC files: one record after the other, an index beside, a new file when one is full. */

import { appendFile, readdir, stat, truncate } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import { formatIndexLine, type IndexLine, mimeOf } from '../../warc/cdxj.ts'
import { type FileLock, isHeld, lockFile } from '../../items/file-lock.ts'
import type { WarcExchange, WarcWriter } from '../../warc/contract.ts'
import { sha1Digest } from '../../warc/digest.ts'
import { formatExchange, formatWarcinfo, type NewWarcRecord } from '../../warc/format.ts'
import { makeFolder } from '../../util/make-folder.ts'
import { createCaptures, type Captures } from './captures.ts'
import { readIndex, sortIndex } from './index-file.ts'
import { findWholeEnd, isTornBeginning } from './torn.ts'

export interface WarcWriterOptions {
  /**
   * A file that ends in `.warc` or `.warc.gz`; further ones stand beside it as `name-00001.warc.gz`. Anything else is a
   * folder, and its files are `spoor-00000.warc.gz` and so on. What is there is gone on with.
   */
  readonly path: string
  /** A file that has reached it is followed by the next. Default 1 GiB. */
  readonly maxFileBytes?: number
  readonly clock: Clock
  /** Fields of the warcinfo records: `software`, `operator`, `robots`. */
  readonly info?: Readonly<Record<string, string>>
}

const MAX_FILE_BYTES = 1024 * 1024 * 1024
const SYNC_BYTES = 64 * 1024
const gzipAsync = promisify<Uint8Array, Buffer>(gzip)

interface Series {
  readonly folder: string
  readonly packed: boolean
  /** Name of the file with this number. */
  nameOf(number: number): string
}

interface OpenFile {
  readonly number: number
  readonly path: string
  bytes: number
  warcinfoId: string
}

interface WriterState {
  readonly lock: FileLock
  readonly options: WarcWriterOptions
  readonly series: Series
  readonly captures: Captures
  file: OpenFile
}

/**
 * Rejects with EXPORT_FAILED when the place cannot be written to or holds something that is no WARC of this package, and
 * with STORE_FULL when its disk is full; so do all calls of the writer.
 */
export async function openWarcWriter(options: WarcWriterOptions): Promise<WarcWriter> {
  const series = seriesOf(options.path)
  let lock: FileLock | undefined
  try {
    makeFolder(series.folder)
    lock = await takeLock(series, options.clock)
    const captures = createCaptures()
    const number = await lastNumber(series)
    for (let n = 0; n <= number; n += 1) await captures.load(indexOf(join(series.folder, series.nameOf(n))))
    const file = await openFile(series, number, options)
    return createWriter({ lock, options, series, captures, file })
  } catch (error) {
    await lock?.release()
    throw failure(options.path, error)
  }
}

/** Workers whose leader was killed need a moment to notice, and the crawl may be going on already. */
const LOCK_TIMEOUT_MS = 10_000
const LOCK_RETRY_MS = 200

/** Records of two writers in one file would cut each other to pieces. */
async function takeLock(series: Series, clock: Clock): Promise<FileLock> {
  const untilMs = clock.monotonicMs() + LOCK_TIMEOUT_MS
  for (;;) {
    const lock = await lockFile(join(series.folder, `${series.nameOf(0)}.lock`), clock)
    if (!isHeld(lock)) return lock
    if (clock.monotonicMs() >= untilMs)
      throw new Error(`${lock.heldBy} is writing it; give each command a file of its own`)
    await clock.sleep(LOCK_RETRY_MS)
  }
}

function seriesOf(path: string): Series {
  const ending = /\.warc(?:\.gz)?$/i.exec(path)?.[0]
  const stem = ending === undefined ? 'spoor' : basename(path).slice(0, -ending.length)
  const numbered = (n: number): string => `${stem}-${String(n).padStart(5, '0')}${ending ?? '.warc.gz'}`
  return {
    folder: ending === undefined ? path : dirname(path),
    packed: ending === undefined || ending.toLowerCase().endsWith('.gz'),
    nameOf: (n) => (n === 0 && ending !== undefined ? `${stem}${ending}` : numbered(n)),
  }
}

async function lastNumber(series: Series): Promise<number> {
  const names = new Set(await readdir(series.folder))
  let last = 0
  while (names.has(series.nameOf(last + 1))) last += 1
  return last
}

function indexOf(path: string): string {
  return path.replace(/\.warc(?:\.gz)?$/i, '.cdxj')
}

/** Cuts off what is not whole, and begins a file that has nothing. */
async function openFile(series: Series, number: number, options: WarcWriterOptions): Promise<OpenFile> {
  const path = join(series.folder, series.nameOf(number))
  const size = await sizeOf(path)
  if (size > 0) {
    // Almost all is known from the index: only what comes from its last line on is read.
    const from = await readIndex(indexOf(path), basename(path))
    const whole = await findWholeEnd(path, { packed: series.packed, from })
    if (whole !== undefined) {
      await truncate(path, whole.end)
      await addToIndex(
        path,
        whole.answers.filter(({ offset }) => offset > from || from === 0),
      )
      return { number, path, bytes: whole.end, warcinfoId: whole.warcinfoId }
    }
    if (!(await isTornBeginning(path))) throw new Error('it holds something that is no WARC file of this crawler')
    await truncate(path, 0)
  }
  return beginFile(path, number, { series, options })
}

/** Records that were written by a process which died before their lines. */
async function addToIndex(path: string, answers: readonly Omit<IndexLine, 'filename'>[]): Promise<void> {
  const lines = answers.map((answer) => formatIndexLine({ ...answer, filename: basename(path) }))
  if (lines.length > 0) await appendFile(indexOf(path), lines.join(''))
}

async function beginFile(
  path: string,
  number: number,
  { series, options }: { readonly series: Series; readonly options: WarcWriterOptions },
): Promise<OpenFile> {
  const record = formatWarcinfo({
    dateMs: options.clock.nowMs(),
    filename: basename(path),
    fields: {
      software: 'Spoor',
      ...options.info,
      format: 'WARC File Format 1.1',
      conformsTo: 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/',
      'http-header-note': 'bodies are decoded; fields about their codings on the wire are named x-orig-*',
    },
  })
  const bytes = await packRecord(record, series.packed)
  await appendFile(path, bytes)
  return { number, path, bytes: bytes.length, warcinfoId: record.id }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

async function packRecord({ bytes }: NewWarcRecord, packed: boolean): Promise<Uint8Array> {
  if (!packed) return bytes
  return bytes.length <= SYNC_BYTES ? gzipSync(bytes) : gzipAsync(bytes)
}

function createWriter(state: WriterState): WarcWriter {
  const { path } = state.options
  let last: Promise<unknown> = Promise.resolve()
  let closing: Promise<void> | undefined
  /** One after the other: the place of a record is known only when the one before it is written. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
  return {
    write: async (exchange) => {
      if (closing !== undefined) throw failure(path, new Error('the writer is closed'))
      await inTurn(async () => {
        try {
          await writeExchange(state, exchange)
        } catch (error) {
          throw failure(path, error)
        }
      })
    },
    position: () => ({ file: state.file.path, bytes: state.file.bytes }),
    close: () => (closing ??= inTurn(() => finish(state)).finally(() => state.lock.release())),
  }
}

async function finish({ file, options }: WriterState): Promise<void> {
  try {
    await sortIndex(indexOf(file.path))
  } catch (error) {
    throw failure(options.path, error)
  }
}

async function writeExchange(state: WriterState, exchange: WarcExchange): Promise<void> {
  const { series, options, captures } = state
  if (state.file.bytes >= (options.maxFileBytes ?? MAX_FILE_BYTES)) {
    await sortIndex(indexOf(state.file.path))
    const number = state.file.number + 1
    state.file = await openFile(series, number, options)
  }
  const { file } = state
  const payloadDigest = sha1Digest(exchange.body)
  const earlier = isWhole(exchange) ? captures.find(payloadDigest) : undefined
  const { warcinfoId } = file
  const records = formatExchange(exchange, { warcinfoId, payloadDigest, ...(earlier === undefined ? {} : { earlier }) })
  const packed = await Promise.all(records.map((record) => packRecord(record, series.packed)))
  const offset = file.bytes
  await append(file, Buffer.concat(packed))
  const { url, dateMs, status } = exchange
  const line = { url, dateMs, status, mime: mimeOf(exchange), digest: payloadDigest, filename: basename(file.path) }
  const revisit = earlier === undefined ? {} : { mime: 'warc/revisit' }
  await appendFile(indexOf(file.path), formatIndexLine({ ...line, ...revisit, offset, length: packed[0]?.length ?? 0 }))
  if (isWhole(exchange) && earlier === undefined) captures.add(payloadDigest, { url, dateMs })
}

/** What a revisit may refer to, or be. */
function isWhole({ status, body, truncated, method }: WarcExchange): boolean {
  return status === 200 && body.length > 0 && truncated === undefined && method !== 'HEAD'
}

/** A write that fails half-way (a full disk) is taken back, so that the next one begins at a boundary. */
async function append(file: OpenFile, bytes: Uint8Array): Promise<void> {
  try {
    await appendFile(file.path, bytes)
  } catch (error) {
    await truncate(file.path, file.bytes).catch(() => undefined)
    throw error
  }
  file.bytes += bytes.length
}

function failure(path: string, error: unknown): CrawlError {
  const problem = error instanceof Error ? error.message : String(error)
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOSPC' && code !== 'EDQUOT')
    return new CrawlError('EXPORT_FAILED', { cause: error, context: { file: path, problem } })
  const advice = 'Free some room on its disk and run the same command again: nothing is lost'
  return new CrawlError('STORE_FULL', { cause: error, context: { location: path, problem: `${problem}. ${advice}` } })
}
