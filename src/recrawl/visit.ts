/** What is remembered of the looks at a page, as a short text for its request, and what the next look makes of it. Pure. */

import type { Finding, IntervalBounds, Visit } from './contract.ts'

/** Of pages that have been seen once. */
const FIRST_INTERVAL_MS = 86_400_000
/** A page that changes is looked at sooner, */
const CHANGED_FACTOR = 0.5
/** and one that does not later. */
const UNCHANGED_FACTOR = 1.5
const VISIT = /^([\w-]{0,64})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})$/

export interface Look {
  /** Of the body. Undefined: the server says that the page is gone. */
  readonly digest: string | undefined
  /** When the server was asked. */
  readonly atMs: number
  readonly bounds: IntervalBounds
}

export interface LookAnswer {
  readonly visit: Visit
  /** Undefined: it was gone before. */
  readonly finding: Finding | undefined
}

/** Undefined: nothing was ever there. */
export function noteLook(before: Visit | undefined, look: Look): LookAnswer | undefined {
  const { digest, atMs, bounds } = look
  if (before === undefined) {
    if (digest === undefined) return undefined
    const intervalMs = within(FIRST_INTERVAL_MS, bounds)
    return { finding: 'new', visit: { digest, checkedAtMs: atMs, changedAtMs: atMs, intervalMs } }
  }
  // an answer out of the cache says nothing newer than what was known
  const checkedAtMs = Math.max(atMs, before.checkedAtMs)
  const same = digest === before.digest
  const intervalMs = within(before.intervalMs * (same ? UNCHANGED_FACTOR : CHANGED_FACTOR), bounds)
  const visit = { digest, checkedAtMs, changedAtMs: same ? before.changedAtMs : checkedAtMs, intervalMs }
  return { visit, finding: findingOf(before, digest) }
}

function findingOf(before: Visit, digest: string | undefined): Finding | undefined {
  if (digest === undefined) return before.digest === undefined ? undefined : 'gone'
  if (before.digest === undefined) return 'new'
  return digest === before.digest ? 'unchanged' : 'changed'
}

const within = (ms: number, { minMs, maxMs }: IntervalBounds): number => Math.min(Math.max(ms, minMs), maxMs)

/** Some 40 characters: instants and the interval in whole seconds. */
export function formatVisit({ digest = '', checkedAtMs, changedAtMs, intervalMs }: Visit): string {
  return [digest, ...[checkedAtMs, changedAtMs, intervalMs].map(seconds36)].join('.')
}

/** Undefined: none, or one that cannot be read; the page counts as new then. */
export function parseVisit(text: string | undefined): Visit | undefined {
  const found = text === undefined ? null : VISIT.exec(text)
  if (found === null) return undefined
  const [, digest = '', checked = '', changed = '', interval = ''] = found
  return {
    digest: digest === '' ? undefined : digest,
    checkedAtMs: msOf(checked),
    changedAtMs: msOf(changed),
    intervalMs: msOf(interval),
  }
}

const seconds36 = (ms: number): string => Math.max(0, Math.floor(ms / 1000)).toString(36)
const msOf = (text: string): number => Number.parseInt(text, 36) * 1000
