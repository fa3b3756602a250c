import { describe, expect, it } from 'vitest'
import { SKIP_REASONS } from '../../../src/core/outcome.ts'
import type { SkipReason } from '../../../src/core/outcome.ts'
import type { StoredRequest } from '../../../src/core/request.ts'
import { decideAdd, isRevivable, skipOf } from '../../../src/frontier/decide-add.ts'
import type { KnownRequest } from '../../../src/frontier/decide-add.ts'

function met(depth: number, fields: { priority?: number; skip?: SkipReason } = {}): StoredRequest {
  const url = 'http://h.test/a'
  return { task: 't', url, fingerprint: 'f'.repeat(16), hostKey: 'h.test', depth, priority: 0, ...fields }
}

function known(fields: Partial<KnownRequest> = {}): KnownRequest {
  return { state: 'pending', reason: undefined, depth: 2, priority: 0, ...fields }
}

const skipped = (reason: SkipReason, depth = 2): KnownRequest => known({ state: 'skipped', reason, depth })

describe('a request that is added', () => {
  it.each([
    ['unknown', undefined, met(1), 3, { kind: 'insert', skip: undefined }],
    ['unknown and refused', undefined, met(1, { skip: 'scope' }), 3, { kind: 'insert', skip: 'scope' }],
    ['unknown and too deep', undefined, met(4), 3, { kind: 'insert', skip: 'depth' }],
    ['known at this depth', known(), met(2), 3, { kind: 'known' }],
    ['known, nearer now', known(), met(1), 3, { kind: 'improve', depth: 1, priority: 0 }],
    ['known, more urgent now', known(), met(5, { priority: 1 }), 9, { kind: 'improve', depth: 2, priority: 1 }],
    ['known, refused now', known(), met(0, { skip: 'nofollow' }), 3, { kind: 'known' }],
    ['refused before, accepted now', skipped('robots'), met(3), 3, { kind: 'revive' }],
    ['refused before and now', skipped('robots'), met(0, { skip: 'robots' }), 3, { kind: 'known' }],
    ['refused before, too deep now', skipped('robots'), met(4), 3, { kind: 'defer', updated: false }],
    ['too deep before, in reach now', skipped('depth', 5), met(3), 3, { kind: 'revive' }],
    ['too deep before, less so now', skipped('depth', 6), met(5), 3, { kind: 'defer', updated: true }],
    ['too deep before and now', skipped('depth', 5), met(5), 3, { kind: 'known' }],
    ['a duplicate', skipped('duplicate'), met(2), 3, { kind: 'known' }],
  ] as const)('that is %s', (...[, before, request, maxDepth, decision]) => {
    expect(decideAdd(before, request, maxDepth)).toEqual(decision)
  })

  it('too deep by the door is judged anew where the task has a limit, and believed where it has none', () => {
    expect(skipOf(met(2, { skip: 'depth' }), 3)).toBeUndefined()
    expect(skipOf(met(2, { skip: 'depth' }), undefined)).toBe('depth')
    expect(decideAdd(known({ depth: 9 }), met(2, { skip: 'depth' }), undefined)).toEqual({ kind: 'known' })
  })
})

it('every skip but those of a duplicate and of a handler says something of the way, not of the page', () => {
  expect(SKIP_REASONS.filter((reason) => !isRevivable(skipped(reason))).toSorted()).toEqual(['duplicate', 'handler'])
})
