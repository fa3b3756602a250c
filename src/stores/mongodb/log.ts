/** The log: one numbered record for each transaction. To insert record n is to commit it, and only one can. */

import { KINDS } from './documents.ts'
import type { Kinds } from './documents.ts'
import { isDuplicateKey } from './errors.ts'
import { chunksOf } from './server.ts'
import type { Server, Write } from './server.ts'

export interface LogRecord {
  readonly n: number
  /** Says whose it is. */
  readonly mark: string
  readonly atMs: number
  readonly writes: readonly Write[]
  /** Records up to this one were where they belong when it was made up. */
  readonly applied: number
}

/**
 * What one process at a time had better do: commit, when several are at it; and let documents follow. It saves work, no
 * more: a commit is safe by its number, and a late write by `$max`. Only FerretDB, whose updates are not atomic, needs it.
 */
export type Claim = 'committing' | 'applying'

export interface Log {
  /** Undefined: there is none yet. `emptied`: it was there so long ago that only its number is kept. */
  read(n: number): Promise<LogRecord | 'emptied' | undefined>
  /** False: another's record has that number. */
  commit(record: LogRecord): Promise<boolean>
  /** The number of the last record that is known to be where it belongs, with all before it. */
  appliedUpTo(): Promise<number>
  /** Notes that records up to `n` are where they belong; empties old ones, which nobody needs any more. */
  noteApplied(n: number): Promise<void>
  /** Says that the bearer of the mark is at it, unless another is: then that one's mark. */
  claim(what: Claim, mark: string): Promise<string | undefined>
  release(what: Claim, mark: string): Promise<void>
  /** Does away with what processes that have died left of old records. */
  sweep(): Promise<void>
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
  readonly applied?: number
  readonly w?: readonly RawWrite[]
  /** How many documents beside the log hold the writes, where one cannot, or where the log must be small. */
  readonly parts?: number
}

/** Records are read by processes that are a little behind; who is further behind begins anew. */
export const KEPT_RECORDS = 64
/** A document may hold 16 MiB: characters of text, of which each may take three bytes. */
const PART_CHARACTERS = 4_000_000
const EMPTIED_A_COMMAND = 50

// oxlint-disable-next-line max-lines-per-function -- a protocol machine: one closure over one state
export function createLog(server: Server): Log {
  const log = server.collection('log')
  const bodies = server.collection('bodies')
  const head = server.collection('head')
  const { ride } = server
  const find = async (collection: typeof log, id: string): Promise<RawRecord | undefined> => {
    const raw = await ride(() => collection.findOne({ _id: id }, { readConcern: { level: 'majority' } }))
    return raw === null ? undefined : (raw as unknown as RawRecord)
  }
  const insert = async (collection: typeof log, raw: RawRecord): Promise<boolean> => {
    try {
      await ride(() => collection.insertOne(raw as never))
      return true
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      // Perhaps it is this very record: the answer to the first try was lost.
      const { _id: id, mark } = raw
      return (await find(collection, id))?.mark === mark
    }
  }
  /** Records that this process has seen, oldest first, and where their bodies are. */
  const seen = new Map<number, readonly string[]>()
  const empty = async (upTo: number): Promise<void> => {
    const old = [...seen].filter(([n]) => n <= upTo)
    for (const [n] of old) seen.delete(n)
    // The numbers stay for ever: who was stopped long ago and goes on must not be able to commit under one of them.
    const emptied = old
      .filter(([, ids]) => ids.length === 0)
      .map(([n]) => ({ replaceOne: { filter: { _id: recordId(n) }, replacement: {} as never } }))
    for (const some of chunksOf(emptied, EMPTIED_A_COMMAND)) await ride(() => log.bulkWrite([...some]))
    await drop(old.flatMap(([, ids]) => ids))
  }
  const drop = async (ids: readonly string[]): Promise<void> => {
    const operations = ids.map((id) => ({ deleteOne: { filter: { _id: id } } }))
    for (const some of chunksOf(operations, EMPTIED_A_COMMAND)) await ride(() => bodies.bulkWrite([...some]))
  }
  return {
    read: async (n) => {
      const raw = await find(log, recordId(n))
      if (raw === undefined) return undefined
      const { mark, at = 0, applied = 0, parts = 0 } = raw
      if (mark === undefined) return 'emptied'
      const writes = [...(raw.w ?? [])]
      const ids = bodyIds({ n, mark, parts })
      for (const id of ids) {
        const body = await find(bodies, id)
        if (body === undefined) return 'emptied'
        writes.push(...(body.w ?? []))
      }
      seen.set(n, ids)
      return { n, mark, atMs: at, applied, writes: writes.map(writeOf) }
    },
    commit: async ({ n, mark, atMs, applied, writes }) => {
      const record = { _id: recordId(n), mark, at: atMs, applied }
      const parts = partsOf(writes)
      const [first = []] = parts
      const isInline = parts.length <= 1 && !server.isFerret
      const ids = isInline ? [] : bodyIds({ n, mark, parts: parts.length })
      for (const [part, id] of ids.entries()) await insert(bodies, { _id: id, mark, w: parts[part] ?? [] })
      const isCommitted = await insert(log, { ...record, ...(isInline ? { w: first } : { parts: ids.length }) })
      if (isCommitted) seen.set(n, ids)
      else await drop(ids)
      return isCommitted
    },
    appliedUpTo: async () => ((await find(head, 'applied')) as { n?: number } | undefined)?.n ?? 0,
    noteApplied: async (n) => {
      const note = { $max: { n } } as never
      await ride(() => head.updateMany({ _id: 'applied' }, note, { upsert: true })).catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error
      })
      await empty(n - KEPT_RECORDS)
    },
    claim: async (what, mark) => {
      try {
        await ride(() => head.insertOne({ _id: what, by: mark } as never))
        return undefined
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        const by = ((await find(head, what)) as { by?: string } | undefined)?.by
        // Perhaps it is this very mark: the answer to the first try was lost.
        return by === mark ? undefined : (by ?? '')
      }
    },
    release: async (what, mark) => {
      await ride(() => head.deleteMany({ _id: what, by: mark } as never))
    },
    sweep: async () => {
      const upTo = ((await find(head, 'applied')) as { n?: number } | undefined)?.n ?? 0
      const oldest = recordId(Math.max(0, upTo - KEPT_RECORDS))
      const ids = await ride(() => bodies.find({ _id: { $lt: oldest } }, { projection: { _id: 1 } }).toArray())
      await drop(ids.map(({ _id: id }) => id))
      const $unset = { mark: '', at: '', applied: '', w: '' } as never
      if (!server.isFerret)
        await ride(() => log.updateMany({ _id: { $lt: oldest }, w: { $exists: true } } as never, { $unset }))
    },
  }
}

/** A text of fixed length: their order is the order of numbers. */
function recordId(n: number): string {
  return String(n).padStart(14, '0')
}

/** They begin with the number, so that old ones are found by their ids. */
function bodyIds({ n, mark, parts }: { readonly n: number; readonly mark: string; readonly parts: number }): string[] {
  return Array.from({ length: parts }, (_, part) => `${recordId(n)}/${mark}/${part}`)
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
