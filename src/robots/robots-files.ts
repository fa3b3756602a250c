/** The robots files that were read: parsed in bounded memory, and as text in the store, over restarts. */

import type { Clock } from '../core/clock.ts'
import type { StateStore } from '../core/state-store.ts'
import { createWeightedLru } from '../util/weighted-lru.ts'
import { type ParsedRobots, parseRobots } from './parse.ts'

/** RFC 9309, 2.4: used no longer than 24 hours, unless the file is unreachable. */
const FRESH_MS = 24 * 60 * 60 * 1000
/** While it is unreachable, a copy up to this age goes on being obeyed. */
const STALE_MS = 7 * FRESH_MS
/** What an entry weighs beside its text. */
const ENTRY_BYTES = 512

export interface RobotsFile {
  readonly robots: ParsedRobots
  /** Wall clock: it is kept over restarts. */
  readonly fetchedAtMs: number
}

export interface RobotsFiles {
  /** From memory alone. */
  recall(origin: string): RobotsFile | undefined
  /** From memory or the store. */
  load(origin: string): Promise<RobotsFile | undefined>
  /** Keeps what was fetched just now, one character a byte; empty when there is no file. */
  keep(origin: string, text: string): Promise<RobotsFile>
  isFresh(file: RobotsFile): boolean
  /** May it be obeyed while a newer one cannot be had? */
  isUsable(file: RobotsFile): boolean
}

export interface RobotsFilesOptions {
  readonly state: StateStore
  readonly clock: Clock
  /** Bound of the text of the files kept parsed. */
  readonly maxCachedBytes: number
}

export function createRobotsFiles({ state, clock, maxCachedBytes }: RobotsFilesOptions): RobotsFiles {
  const files = createWeightedLru<RobotsFile>(maxCachedBytes)

  function remember(origin: string, text: string, fetchedAtMs: number): RobotsFile {
    const file: RobotsFile = { robots: parseRobots(Buffer.from(text, 'latin1')), fetchedAtMs }
    files.set(origin, file, text.length + ENTRY_BYTES)
    return file
  }

  /** A file from the future tells of a clock that was set back: how old it is, nobody knows. */
  function isYounger(file: RobotsFile, limitMs: number): boolean {
    const ageMs = clock.nowMs() - file.fetchedAtMs
    return ageMs >= 0 && ageMs < limitMs
  }

  return {
    recall: (origin) => files.get(origin),
    async load(origin) {
      const file = files.get(origin)
      if (file !== undefined) return file
      const record = parseRecord(await state.get(keyOf(origin)))
      return record === undefined ? undefined : remember(origin, record.text, record.fetchedAtMs)
    },
    async keep(origin, text) {
      const fetchedAtMs = clock.nowMs()
      await state.set({ [keyOf(origin)]: JSON.stringify({ fetchedAtMs, text }) })
      return remember(origin, text, fetchedAtMs)
    },
    isFresh: (file) => isYounger(file, FRESH_MS),
    isUsable: (file) => isYounger(file, STALE_MS),
  }
}

function keyOf(origin: string): string {
  return `robots/${origin}`
}

/** Undefined for what this version did not write. */
function parseRecord(json: string | undefined): { readonly fetchedAtMs: number; readonly text: string } | undefined {
  if (json === undefined) return undefined
  try {
    const { fetchedAtMs, text } = Object(JSON.parse(json)) as Partial<Record<'fetchedAtMs' | 'text', unknown>>
    return typeof fetchedAtMs === 'number' && typeof text === 'string' ? { fetchedAtMs, text } : undefined
  } catch {
    return undefined
  }
}
