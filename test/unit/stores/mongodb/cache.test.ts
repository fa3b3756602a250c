import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createCache } from '../../../../src/stores/mongodb/cache.ts'
import type { RequestDocument } from '../../../../src/stores/mongodb/documents.ts'
import { comparePlaces } from '../../../../src/stores/mongodb/documents.ts'

/** A document that stands at place `a` of list `q`, or in none. */
function at(id: string, q: string | undefined, a: number): RequestDocument {
  const row = { t: 1, id: 0, fp: id, h: '', s: 'pending', depth: 0, priority: 0, url: '', tries: 0 } as const
  return q === undefined ? row : { ...row, q, a, b: 0, c: id.charCodeAt(2) }
}

const move = fc.record({
  id: fc.constantFrom('1:a', '1:b', '1:c', '1:d', '1:e', '1:f'),
  q: fc.constantFrom('x', 'y', undefined),
  a: fc.nat(20),
})
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), moves: fc.array(move, { maxLength: 3 }) }) },
  fc.record({
    kind: fc.constant('read' as const),
    q: fc.constantFrom('x', 'y'),
    limit: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ kind: fc.constant('apply' as const), behind: fc.nat(3) }),
)

it('lists that are kept are the beginnings of the lists there are, however far behind the database is', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const cache = createCache(1)
      /** As of each record, and as it lies in the database. */
      const records: { id: string; doc: RequestDocument }[][] = [[]]
      const now = new Map<string, RequestDocument>()
      const stored = new Map<string, RequestDocument>()
      let applied = 0
      for (const each of steps) {
        if (each.kind === 'write') {
          const docs = each.moves.map(({ id, q, a }) => ({ id, doc: at(id, q, a) }))
          for (const { id, doc } of docs) {
            cache.take({ kind: 'requests', id, doc, isNew: !now.has(id) }, records.length)
            now.set(id, doc)
          }
          records.push(docs)
        } else if (each.kind === 'apply') {
          const upTo = Math.max(applied, records.length - 1 - each.behind)
          for (const { id, doc } of records.slice(applied + 1, upTo + 1).flat()) stored.set(id, doc)
          applied = upTo
          cache.unapplied.prune(upTo)
        } else {
          const entries = [...stored]
            .filter(([, doc]) => doc.q === each.q)
            .map(([id, { a, b, c }]) => ({ id, a, b, c }))
            .toSorted(comparePlaces)
            .slice(0, each.limit)
          cache.noteWindow('requests', each.q, { entries, read: each.limit })
        }
        for (const q of ['x', 'y']) {
          const window = cache.window('requests', q)
          if (window === undefined) continue
          const { bound } = window
          const wanted = [...now]
            .filter(([, doc]) => doc.q === q && (bound === undefined || comparePlaces(doc, bound) <= 0))
            .map(([id]) => id)
          expect(new Set(window.entries.map(({ id }) => id))).toEqual(new Set(wanted))
          expect(window.entries.length).toBe(wanted.length)
          expect(window.entries.toSorted(comparePlaces)).toEqual(window.entries)
        }
      }
    }),
    { numRuns: 500 },
  )
})
