/** What the store remembers of an export: how far the file is, and enough to see that it is still that file. */

import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { StateStore } from '../core/state-store.ts'
import type { ItemStore, StoredItem } from './contract.ts'

export interface ExportRecord {
  /** The exporter's own. */
  readonly position: string
  /** Of the last item written; 0: none. */
  readonly lastSeq: number
  /** Of that item's JSON: tells a crawl that was begun afresh from this one. */
  readonly lastDigest: string
  readonly count: number
  /** The item store's when the file was begun. */
  readonly revision: number
  /** What belongs at the end of the file is there. */
  readonly finished: boolean
}

/** Written before a file is replaced: a crash on the way leaves no record that could fit the wrong file. */
export const REPLACING = 'replacing'

const PREFIX = 'export/'

/** One a file, kind and machine: another machine's file of the same name is another file. */
export function exportKey({ task, format, file }: { task: string; format: string; file: string }): string {
  return `${PREFIX}${JSON.stringify(task)}/${format}/${hostname()}:${file}`
}

/** To be called when a crawl is begun afresh: its exports are then written anew. */
export async function forgetExports(state: StateStore, task: string): Promise<void> {
  const keys = await state.keys(`${PREFIX}${JSON.stringify(task)}/`)
  await state.set(Object.fromEntries(keys.map((key) => [key, undefined])))
}

export function advance(record: ExportRecord, batch: readonly StoredItem[], position: string): ExportRecord {
  const last = batch.at(-1)
  if (last === undefined) return { ...record, position }
  return {
    position,
    lastSeq: last.seq,
    lastDigest: digestOf(last),
    count: record.count + batch.length,
    revision: record.revision,
    finished: false,
  }
}

/** Does the store still hold the item that the record ends with, unchanged? */
export async function isOfStore(record: ExportRecord, items: ItemStore, task: string): Promise<boolean> {
  if (record.lastSeq === 0) return true
  const [item] = await items.read(task, record.lastSeq - 1, 1)
  return item !== undefined && item.seq === record.lastSeq && digestOf(item) === record.lastDigest
}

function digestOf(item: StoredItem): string {
  return createHash('sha256').update(item.json).digest('base64url').slice(0, 22)
}

/** Undefined for what this version did not write. */
export function parseRecord(text: string | undefined): ExportRecord | undefined {
  if (text === undefined || text === REPLACING) return undefined
  try {
    const value = JSON.parse(text) as Partial<Record<keyof ExportRecord, unknown>>
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: Partial<Record<keyof ExportRecord, unknown>>): value is ExportRecord {
  const numbers = [value.lastSeq, value.count, value.revision]
  return (
    typeof value.position === 'string' &&
    typeof value.lastDigest === 'string' &&
    typeof value.finished === 'boolean' &&
    numbers.every((number) => Number.isSafeInteger(number))
  )
}
