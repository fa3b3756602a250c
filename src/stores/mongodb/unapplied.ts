/** Writes that are committed and may not be where they belong yet: the newest of each document. */

import { KINDS } from './documents.ts'
import type { Kind } from './documents.ts'
import type { Stored, VersionedWrite, Write } from './server.ts'

interface Pending extends Stored {
  /** Number of the record that made the document, if one of those here did. */
  readonly madeIn: number | undefined
}

export interface Unapplied {
  readonly size: number
  get(kind: Kind, id: string): Stored | undefined
  of(kind: Kind): ReadonlyMap<string, Stored>
  /** Of record `v`, which is later than all before. */
  take(write: Write, v: number): void
  writes(): VersionedWrite[]
  /** All records up to this one are where they belong. */
  prune(upTo: number): void
  clear(): void
}

export function createUnapplied(): Unapplied {
  const kinds = new Map<Kind, Map<string, Pending>>(KINDS.map((kind) => [kind, new Map()]))
  const none: ReadonlyMap<string, Stored> = new Map()
  let size = 0
  let prunedUpTo = 0
  return {
    get size() {
      return size
    },
    get: (kind, id) => kinds.get(kind)?.get(id),
    of: (kind) => kinds.get(kind) ?? none,
    take: ({ kind, id, doc, isNew }, v) => {
      const pending = kinds.get(kind)
      const old = pending?.get(id)
      if (old === undefined) size++
      pending?.set(id, { v, doc, madeIn: isNew ? v : old?.madeIn })
    },
    writes: () =>
      [...kinds].flatMap(([kind, pending]) =>
        [...pending].map(([id, { v, doc, madeIn }]) => ({ kind, id, doc, v, isNew: (madeIn ?? 0) > prunedUpTo })),
      ),
    prune: (upTo) => {
      prunedUpTo = Math.max(prunedUpTo, upTo)
      for (const pending of kinds.values()) {
        for (const [id, { v }] of pending) {
          if (v > upTo) continue
          pending.delete(id)
          size--
        }
      }
    },
    clear: () => {
      for (const pending of kinds.values()) pending.clear()
      size = 0
    },
  }
}
