/** An export to a file: appended to while the crawl runs, exact after any crash, written anew when it must be. */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { StateStore } from '../core/state-store.ts'
import type { Exporter, ExportFormat, ItemStore } from './contract.ts'
import { type ExportRecord, REPLACING, advance, exportKey, isOfStore, parseRecord } from './export-record.ts'
import { readBatches } from './read-batches.ts'
import { writeWhole } from './write-whole.ts'

export interface FileExportOptions {
  readonly format: ExportFormat
  readonly file: string
  readonly hasContent: boolean
  readonly task: string
  readonly items: ItemStore
  readonly state: StateStore
  readonly clock: Clock
  readonly log: Logger
}

export interface FileExport {
  pump(): Promise<void>
  finish(): Promise<void>
  close(): Promise<void>
  count(): number
}

/** The record is stored this seldom: a crash costs that much appended again. */
const STORE_EVERY_MS = 5000
const STORE_EVERY_ITEMS = 20_000
/** A file that new columns have outdated is written anew when it has doubled, so that all rewriting costs twice the file. */
const MIN_ITEMS_BETWEEN_REWRITES = 1000

interface Progress extends FileExportOptions {
  readonly key: string
  record: ExportRecord | undefined
  /** Open between two pumps; none after an error, until the next one opens the file again at the record. */
  exporter: Exporter | undefined
  rewrittenAt: number
  storedAtMs: number
  storedCount: number
}

/** To be opened by the holder of the file's lock only. Rejects with errors of the file system. */
export async function openFileExport(options: FileExportOptions): Promise<FileExport> {
  const { format, file, task, state, clock } = options
  const key = exportKey({ task, format: format.name, file })
  const stored = await state.get(key)
  if (stored === undefined && options.hasContent) {
    options.log.warn({ file }, 'the file was there already and is replaced by the items of this crawl')
  }
  const begun = { exporter: undefined, rewrittenAt: 0, storedAtMs: clock.monotonicMs(), storedCount: 0 }
  const progress: Progress = { ...options, ...begun, key, record: parseRecord(stored) }
  const run = (work: (progress: Progress) => Promise<void>) => guarded(progress, work)
  if (format.live) await run(append)
  return {
    pump: () => (format.live ? run(append) : Promise.resolve()),
    finish: () => run(format.live ? finishLive : finishWhole),
    close: async () => {
      if (progress.exporter !== undefined) await store(progress).finally(() => letGo(progress))
    },
    count: () => progress.record?.count ?? 0,
  }
}

/** After an error the exporter is good for nothing; the record still says where to go on. */
async function guarded(progress: Progress, work: (progress: Progress) => Promise<void>): Promise<void> {
  try {
    await work(progress)
  } catch (error) {
    await letGo(progress).catch(() => undefined)
    throw error
  }
}

async function append(progress: Progress): Promise<void> {
  const { items, task } = progress
  let { exporter, record } = progress.exporter === undefined ? await reopen(progress) : openParts(progress)
  for await (const batch of readBatches({ items, task, after: record.lastSeq })) {
    await exporter.write(batch)
    record = advance(record, batch, exporter.position())
    progress.record = record
    if (isDue(progress, record)) await store(progress)
  }
  const grown = Math.max(MIN_ITEMS_BETWEEN_REWRITES, 2 * progress.rewrittenAt)
  if (exporter.outdated() && record.count >= grown) await rewrite(progress, false)
}

interface OpenParts {
  readonly exporter: Exporter
  readonly record: ExportRecord
}

function openParts({ exporter, record }: Progress): OpenParts {
  if (exporter === undefined || record === undefined) throw new Error('something else writes to it at the same time')
  return { exporter, record }
}

async function reopen(progress: Progress): Promise<OpenParts> {
  if (!(await goOn(progress))) await rewrite(progress, false)
  return openParts(progress)
}

/** False: the file is not what the record says, or the record is not of this crawl. */
async function goOn(progress: Progress): Promise<boolean> {
  const { record, format, file, items, task } = progress
  if (record === undefined || !(await isOfStore(record, items, task))) return false
  progress.exporter = await format.open({ file, position: record.position })
  return progress.exporter !== undefined
}

async function rewrite(progress: Progress, finish: boolean): Promise<void> {
  const { format, file, task, items, state, key } = progress
  const like = progress.exporter === undefined ? {} : { like: progress.exporter.position() }
  await letGo(progress)
  progress.record = await writeWhole({
    format,
    file,
    task,
    items,
    finish,
    ...like,
    beforeReplace: () => state.set({ [key]: REPLACING }),
  })
  progress.rewrittenAt = progress.record.count
  await goOn(progress)
  openParts(progress)
  await store(progress)
}

function isDue({ clock, storedAtMs, storedCount }: Progress, record: ExportRecord): boolean {
  return clock.monotonicMs() - storedAtMs >= STORE_EVERY_MS || record.count - storedCount >= STORE_EVERY_ITEMS
}

/** The record is stored when what it tells of is on the disk. */
async function store(progress: Progress): Promise<void> {
  const { exporter, record, state, key, clock } = progress
  if (record === undefined) return
  await exporter?.sync()
  await state.set({ [key]: JSON.stringify(record) })
  progress.storedAtMs = clock.monotonicMs()
  progress.storedCount = record.count
}

async function letGo(progress: Progress): Promise<void> {
  const { exporter } = progress
  progress.exporter = undefined
  await exporter?.close()
}

async function finishLive(progress: Progress): Promise<void> {
  await append(progress)
  const { exporter, record } = openParts(progress)
  if (exporter.outdated() || record.revision !== (await progress.items.revision(progress.task))) {
    await rewrite(progress, true)
  } else if (!record.finished) {
    await exporter.finish()
    progress.record = { ...record, position: exporter.position(), finished: true }
    await store(progress)
  }
}

async function finishWhole(progress: Progress): Promise<void> {
  if (!(await isComplete(progress)) || !(await goOn(progress))) await rewrite(progress, true)
  await letGo(progress)
}

async function isComplete({ items, task, record }: Progress): Promise<boolean> {
  if (record === undefined || !record.finished || record.revision !== (await items.revision(task))) return false
  return (await items.read(task, record.lastSeq, 1)).length === 0
}
