/** An export to stdout or a pipe: every run writes all items from the first, since nobody can know what an earlier reader kept. */

import { type WriteOutput, createOutputSink } from './byte-sink.ts'
import type { ByteFormat } from './byte-exporter.ts'
import type { ItemStore } from './contract.ts'
import { readBatches } from './read-batches.ts'
import { copyItems } from './write-whole.ts'

export interface StreamExportOptions {
  readonly format: ByteFormat
  readonly write: WriteOutput
  readonly task: string
  readonly items: ItemStore
}

export interface StreamExport {
  pump(): Promise<void>
  finish(): Promise<void>
  count(): number
}

/**
 * Lines of JSON go out while the crawl runs; a depth that is lowered afterwards is not corrected. Other kinds of files
 * are written at the end, when all columns are known.
 */
export function createStreamExport({ format, write, task, items }: StreamExportOptions): StreamExport {
  const sink = createOutputSink(write)
  let count = 0
  if (format.name !== 'jsonl') {
    const finish = async (): Promise<void> => {
      const like = format.live ? await findLayout({ format, items, task }) : undefined
      const exporter = await format.openStream(sink, like)
      count = (await copyItems(exporter, items, task)).count
      await exporter.finish()
    }
    return { pump: () => Promise.resolve(), finish, count: () => count }
  }
  const opening = format.openStream(sink)
  let last = 0
  const pump = async (): Promise<void> => {
    const exporter = await opening
    for await (const batch of readBatches({ items, task, after: last })) {
      await exporter.write(batch)
      last = batch.at(-1)?.seq ?? last
      count += batch.length
    }
  }
  return { pump, finish: pump, count: () => count }
}

async function findLayout({ format, items, task }: Omit<StreamExportOptions, 'write'>): Promise<string> {
  const dry = await format.openStream(createOutputSink(() => Promise.resolve()))
  await copyItems(dry, items, task)
  return dry.position()
}
