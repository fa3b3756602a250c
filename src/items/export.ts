/** The export of a crawl's items while it runs: `-o FILE`. */

import { type Clock, systemClock } from '../core/clock.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import type { StateStore } from '../core/state-store.ts'
import type { WriteOutput } from './byte-sink.ts'
import type { ExportFormat, ItemStore } from './contract.ts'
import { type Destination, resolveDestination } from './destination.ts'
import { exportFailed } from './export-failed.ts'
import { type FileExport, openFileExport } from './file-export.ts'
import { type FileLock, isHeld, lockFile } from './file-lock.ts'
import { type ExportFormatName, byteFormats, exportFormatOf, formatNamed } from './formats.ts'
import { type RotateLimit, rotating } from './rotate.ts'
import type { OpenSqliteDatabase } from './sqlite.ts'
import { createStreamExport } from './stream-export.ts'
import { writeWhole } from './write-whole.ts'

export interface ExportTarget {
  /** A path, or `-` for stdout. Its folder is made when there is none. */
  readonly file: string
  /** Default: told by the file's ending. */
  readonly format?: string | undefined
  readonly task: string
  readonly items: ItemStore
  /** The file in parts of this size: `items-00001.jsonl` and so on. Default: one file. */
  readonly rotate?: RotateLimit | undefined
  /** A format of the user's own, for a file. */
  readonly custom?: ExportFormat | undefined
  /** What `-` stands for. */
  readonly writeOutput?: WriteOutput
  /** Opens a database for `.sqlite`; needed for that alone. */
  readonly openDatabase?: OpenSqliteDatabase
  /** Default: the system's. */
  readonly clock?: Clock
}

export interface ExportOptions extends ExportTarget {
  readonly state: StateStore
  /** Default: silent. */
  readonly log?: Logger
}

/**
 * The file holds exactly this crawl's items, each once, byte for byte, whatever dies: what stood there before is
 * replaced. Only one process writes it: another one waits until the first ends, then takes over.
 */
export interface ItemExport extends AsyncDisposable {
  /** Writes what is new. Calls while one is under way share it. Rejects with EXPORT_FAILED; may be called again then. */
  pump(): Promise<void>
  /**
   * Writes what is new and what belongs at the end, or the whole file where it must be written anew. To be called when
   * the crawl has come to its end; after an interruption too, where a file is wanted that holds what there is.
   */
  finish(): Promise<void>
  /** Remembers how far it came. Idempotent; `finish` is not implied. */
  close(): Promise<void>
  /** Items in the file, as far as this process knows. */
  readonly count: number
}

/** How long `finish` waits for another process that exports to the same file. */
const LOCK_WAIT_MS = 10_000
const LOCK_RETRY_MS = 100

/** Throws CONFIG_INVALID for a format that is none, EXPORT_FAILED when the file cannot be written. */
export async function openExport(options: ExportOptions): Promise<ItemExport> {
  // of a custom format nothing is told by the ending
  const name = options.custom === undefined ? exportFormatOf(options.file, options.format) : 'jsonl'
  const destination = await resolveDestination(options.file, options.writeOutput)
  const parts =
    destination.kind === 'stream'
      ? streamParts(options, { name, destination })
      : await fileParts(options, { name, destination })
  const exported = createItemExport(options.file, parts)
  try {
    await exported.pump()
  } catch (error) {
    await exported.close().catch(() => undefined)
    throw error
  }
  return exported
}

interface ExportParts {
  readonly pump: () => Promise<void>
  readonly finish: () => Promise<void>
  readonly close: () => Promise<void>
  readonly count: () => number
}

/** One thing at a time, in order; errors under one name. */
function createItemExport(file: string, parts: ExportParts): ItemExport {
  let tail: Promise<unknown> = Promise.resolve()
  let pumping: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const inOrder = (work: () => Promise<void>): Promise<void> => {
    const done = tail.then(work, work).catch((error: unknown) => {
      throw exportFailed(file, error)
    })
    tail = done.catch(() => undefined)
    return done
  }
  const close = (): Promise<void> => (closing ??= inOrder(parts.close))
  return {
    pump: () => {
      if (closing !== undefined) return closing
      pumping ??= inOrder(parts.pump).finally(() => {
        pumping = undefined
      })
      return pumping
    },
    finish: () => closing ?? inOrder(parts.finish),
    close,
    get count() {
      return parts.count()
    },
    [Symbol.asyncDispose]: close,
  }
}

function formatOf(
  name: ExportFormatName,
  {
    openDatabase,
    rotate,
    custom,
  }: { readonly [K in 'openDatabase' | 'rotate' | 'custom']?: ExportTarget[K] | undefined },
): ExportFormat {
  const format = custom ?? formatNamed(name, openDatabase)
  return rotate === undefined ? format : rotating(format, rotate)
}

function streamParts(
  { task, items, file, rotate, custom }: ExportTarget,
  { name, destination }: { name: ExportFormatName; destination: Extract<Destination, { kind: 'stream' }> },
): ExportParts {
  const { write, close } = destination
  if (rotate !== undefined) throw exportFailed(file, new Error('a stream has no parts: leave --output-rotate out'))
  if (custom !== undefined) throw exportFailed(file, new Error('a format of your own needs a file'))
  return { ...createStreamExport({ format: byteFormats[streamable(name)], write, task, items }), close }
}

function streamable(name: ExportFormatName): Exclude<ExportFormatName, 'sqlite'> {
  if (name === 'sqlite') throw exportFailed(name, new Error('a database cannot be written to a pipe or a device'))
  return name
}

async function fileParts(
  options: ExportOptions,
  { name, destination }: { name: ExportFormatName; destination: Extract<Destination, { kind: 'file' }> },
): Promise<ExportParts> {
  const { task, items, state, clock = systemClock, log = silentLogger } = options
  const format = formatOf(name, options)
  let lock: FileLock | undefined
  let opened: FileExport | undefined
  let isTold = false

  const take = async (): Promise<FileExport | undefined> => {
    if (opened !== undefined) return opened
    const answer = await lockFile(lockNameOf(destination.file), clock)
    if (isHeld(answer)) {
      if (!isTold) log.warn({ file: destination.file, heldBy: answer.heldBy }, 'another process exports to this file')
      isTold = true
      return undefined
    }
    lock = answer
    opened = await openFileExport({ ...destination, format, task, items, state, clock, log }).catch(giveBack)
    return opened
  }
  const giveBack = async (error: unknown): Promise<never> => {
    await lock?.release()
    lock = undefined
    throw error
  }
  const finish = async (): Promise<void> => {
    const deadline = clock.monotonicMs() + LOCK_WAIT_MS
    let mine = await take()
    while (mine === undefined && clock.monotonicMs() < deadline) {
      await clock.sleep(LOCK_RETRY_MS)
      mine = await take()
    }
    if (mine === undefined) log.warn({ file: destination.file }, 'the export is left to the other process')
    await mine?.finish()
  }
  const close = async (): Promise<void> => {
    try {
      await opened?.close()
    } finally {
      await lock?.release()
    }
  }
  return { pump: async () => (await take())?.pump(), finish, close, count: () => opened?.count() ?? 0 }
}

/**
 * All items of the store, written at once: `spoor export`. A file is written beside its place and renamed. Resolves with
 * their number. Throws as `openExport` does, also when a crawl exports to that file.
 */
export async function exportAll(target: ExportTarget): Promise<number> {
  const { file } = target
  const name = exportFormatOf(file, target.format)
  const destination = await resolveDestination(file, target.writeOutput)
  try {
    if (destination.kind === 'file') return await writeFileWhole(target, { name, file: destination.file })
    const parts = streamParts(target, { name, destination })
    await parts.finish().finally(parts.close)
    return parts.count()
  } catch (error) {
    throw exportFailed(file, error)
  }
}

async function writeFileWhole(
  { openDatabase, rotate, clock = systemClock, task, items }: ExportTarget,
  { name, file }: { name: ExportFormatName; file: string },
): Promise<number> {
  const format = formatOf(name, { rotate, openDatabase })
  const lock = await lockFile(lockNameOf(file), clock)
  if (isHeld(lock)) throw new Error(`${lock.heldBy} exports to it; choose another name, or wait for its end`)
  try {
    return (await writeWhole({ format, file, task, items, finish: true })).count
  } finally {
    await lock.release()
  }
}

function lockNameOf(file: string): string {
  return `${file}.lock`
}
