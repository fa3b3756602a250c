/** A file written as a whole from the store: beside its place first, then put there by one rename. */

import { rename, rm } from 'node:fs/promises'
import type { Exporter, ExportFormat, ItemStore } from './contract.ts'
import { type ExportRecord, advance } from './export-record.ts'
import { readBatches } from './read-batches.ts'

export interface WriteWholeOptions {
  readonly format: ExportFormat
  readonly file: string
  readonly task: string
  readonly items: ItemStore
  /** Position of an exporter whose layout is to be taken over. */
  readonly like?: string
  /** Also write what belongs at the end. */
  readonly finish: boolean
  /** Called when all is written and on the disk, before the file is replaced. */
  readonly beforeReplace?: () => Promise<void>
}

/** A reader sees the old file or the new one, never a part. The file is closed when it resolves. */
export async function writeWhole(options: WriteWholeOptions): Promise<ExportRecord> {
  const { file, format } = options
  const draft = `${file}.spoor-tmp`
  try {
    const first = await writeDraft(draft, options, options.like)
    const record = first.outdated ? (await writeDraft(draft, options, first.record.position)).record : first.record
    await options.beforeReplace?.()
    await replace(format, draft, file)
    return record
  } catch (error) {
    await remove(format, draft).catch(() => undefined)
    throw error
  }
}

async function replace(format: ExportFormat, draft: string, file: string): Promise<void> {
  if (format.replace !== undefined) {
    await format.replace(draft, file)
    return
  }
  // what stands beside the old file must not be taken for the new one's
  await removeAll(format.sidecars.map((ending) => file + ending))
  await rename(draft, file)
}

async function remove(format: ExportFormat, draft: string): Promise<void> {
  if (format.remove === undefined) await removeAll(['', ...format.sidecars].map((ending) => draft + ending))
  else await format.remove(draft)
}

async function writeDraft(
  draft: string,
  { format, task, items, finish }: WriteWholeOptions,
  like: string | undefined,
): Promise<{ readonly record: ExportRecord; readonly outdated: boolean }> {
  const exporter = await format.open({ file: draft, ...(like === undefined ? {} : { like }) })
  if (exporter === undefined) throw new Error('a new file could not be begun')
  try {
    const copied = await copyItems(exporter, items, task)
    const outdated = exporter.outdated()
    if (finish && !outdated) await exporter.finish()
    await exporter.sync()
    return { record: { ...copied, position: exporter.position(), finished: finish }, outdated }
  } finally {
    await exporter.close()
  }
}

/** All items of the store, from the first. */
export async function copyItems(exporter: Exporter, items: ItemStore, task: string): Promise<ExportRecord> {
  const revision = await items.revision(task)
  let record: ExportRecord = {
    position: exporter.position(),
    lastSeq: 0,
    lastDigest: '',
    count: 0,
    revision,
    finished: false,
  }
  for await (const batch of readBatches({ items, task, after: 0 })) {
    await exporter.write(batch)
    record = advance(record, batch, '')
  }
  return { ...record, position: exporter.position() }
}

async function removeAll(files: readonly string[]): Promise<void> {
  await Promise.all(files.map((file) => rm(file, { force: true })))
}
