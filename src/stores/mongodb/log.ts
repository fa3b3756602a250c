/** The log: one numbered record for each transaction. To insert record n is to commit it, and only one can. */

import { KINDS } from './documents.ts'
import type { Kinds } from './documents.ts'
import { isDuplicateKey } from './errors.ts'
import type { Server, Write } from './server.ts'

export interface LogRecord {
  readonly n: number
  /** Says whose it is. */
  readonly mark: string
  readonly atMs: number
  readonly writes: readonly Write[]
}

export interface Log {
  /** Undefined: there is none yet. `emptied`: it was there so long ago that only its number is kept. */
  read(n: number): Promise<LogRecord | 'emptied' | undefined>
  /** False: another's record has that number. */
  commit(record: LogRecord): Promise<boolean>
  /** The number of the last record that is known to be where it belongs, with all before it. */
  appliedUpTo(): Promise<number>
  /** Notes that this record is where it belongs; empties one that nobody needs any more. */
  noteApplied(n: number): Promise<void>
}

/** The kind by its place in KINDS. A document, because FerretDB has no arrays in arrays. */
interface RawWrite {
  readonly k: number
  readonly id: string
  readonly isNew: boolean
  /** None: deleted. */
  readonly doc?: object | undefined
}
interface RawRecord {
  readonly _id: string
  readonly mark?: string
  readonly at?: number
  readonly w?: readonly RawWrite[]
  /** Documents of the log that hold the writes, where they are too large for one. */
  readonly parts?: number
}

/** Records are read by processes that are a little behind; who is further behind begins anew. */
export const KEPT_RECORDS = 256
/** A document may hold 16 MiB: characters of text, of which each may take three bytes. */
const PART_CHARACTERS = 4_000_000

export function createLog(server: Server): Log {
  const log = server.collection('log')
  const head = server.collection('head')
  const { ride } = server
  const readRaw = async (id: string): Promise<RawRecord | undefined> => {
    const raw = await ride(() => log.findOne({ _id: id }, { readConcern: { level: 'majority' } }))
    return raw === null ? undefined : (raw as unknown as RawRecord)
  }
  const insert = async (raw: RawRecord): Promise<boolean> => {
    try {
      await ride(() => log.insertOne(raw as never))
      return true
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      // Perhaps it is this very record: the answer to the first try was lost.
      const { _id: id, mark } = raw
      return (await readRaw(id))?.mark === mark
    }
  }
  return {
    read: async (n) => {
      const raw = await readRaw(recordId(n))
      if (raw === undefined) return undefined
      const { mark, at = 0, parts = 0 } = raw
      if (mark === undefined) return 'emptied'
      const writes = [...(raw.w ?? [])]
      for (let part = 0; part < parts; part++) writes.push(...((await readRaw(partId(mark, part)))?.w ?? []))
      return { n, mark, atMs: at, writes: writes.map(writeOf) }
    },
    commit: async ({ n, mark, atMs, writes }) => {
      const record = { _id: recordId(n), mark, at: atMs }
      const [first = [], ...more] = partsOf(writes)
      if (more.length === 0) return insert({ ...record, w: first })
      const parts = [first, ...more]
      for (const [part, w] of parts.entries()) await insert({ _id: partId(mark, part), mark, w })
      const isCommitted = await insert({ ...record, parts: parts.length })
      if (!isCommitted) await emptyParts(server, mark, parts.length)
      return isCommitted
    },
    appliedUpTo: async () => {
      const raw = await ride(() => head.findOne({ _id: 'applied' }))
      return (raw as { n?: number } | null)?.n ?? 0
    },
    noteApplied: async (n) => {
      await ride(() => head.updateMany({ _id: 'applied' }, { $max: { n } } as never, { upsert: true })).catch(
        (error: unknown) => {
          if (!isDuplicateKey(error)) throw error
        },
      )
      if (n <= KEPT_RECORDS) return
      const oldId = recordId(n - KEPT_RECORDS)
      const old = await readRaw(oldId)
      if (old?.mark === undefined) return
      // The number stays for ever: who was stopped long ago and goes on must not be able to commit under it.
      await ride(() => log.replaceOne({ _id: oldId }, {} as never))
      if (old.parts !== undefined) await emptyParts(server, old.mark, old.parts)
    },
  }
}

async function emptyParts({ collection, ride }: Server, mark: string, parts: number): Promise<void> {
  for (let part = 0; part < parts; part++) await ride(() => collection('log').deleteMany({ _id: partId(mark, part) }))
}

/** A text of fixed length: their order is the order of numbers. */
function recordId(n: number): string {
  return String(n).padStart(14, '0')
}

function partId(mark: string, part: number): string {
  return `${mark}/${part}`
}

function partsOf(writes: readonly Write[]): RawWrite[][] {
  const parts: RawWrite[][] = []
  let room = 0
  for (const { kind, id, isNew, doc } of writes) {
    const size = charactersOf(doc) + id.length + 32
    if (size > room || parts.length === 0) {
      parts.push([])
      room = PART_CHARACTERS
    }
    parts.at(-1)?.push({ k: KINDS.indexOf(kind), id, isNew, doc })
    room -= size
  }
  return parts
}

/** About as much as its texts are long. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 8
  if (typeof value !== 'object' || value === null) return 12
  let sum = 16
  for (const part of Object.values(value)) sum += 12 + charactersOf(part)
  return sum
}

function writeOf({ k, id, isNew, doc }: RawWrite): Write {
  return { kind: KINDS[k] ?? 'meta', id, isNew, doc: doc as Kinds[keyof Kinds] | undefined }
}
