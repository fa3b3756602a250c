/** A lock file beside an export, so that only one process writes it; a dead owner's lock is taken over. */

import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import type { Clock } from '../core/clock.ts'
import { isGone, thisProcess } from '../util/local-process.ts'

export interface FileLock {
  /** Idempotent. */
  release(): Promise<void>
}

export interface LockHolder {
  readonly heldBy: string
}

/** The owner touches its lock this often. */
const HEARTBEAT_MS = 5000
/** Another machine's lock that was not touched for so long has no owner any more. */
const STALE_AFTER_MS = 60_000

interface Owner {
  readonly pid: number
  readonly host: string
  /** Tells a process from a later one with the same id. */
  readonly started: string
}

/**
 * Takes the lock, or says who holds it; never waits. A process of this machine counts as alive while it runs, one of
 * another machine while it touches the lock. Rejects with the error of the file system.
 */
export async function lockFile(file: string, clock: Clock): Promise<FileLock | LockHolder> {
  const own: Owner = { pid, host: hostname(), started: thisProcess().began }
  const text = JSON.stringify(own)
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (await createExclusive(file, text)) return holdLock(file, { text, clock })
    const found = await readOwner(file)
    if (found !== undefined && isAlive({ found, own, clock })) return { heldBy: describe(found.owner) }
    if (found !== undefined) await removeStale(file, found.text)
  }
  return { heldBy: 'another process' }
}

export function isHeld(lock: FileLock | LockHolder): lock is LockHolder {
  return 'heldBy' in lock
}

async function createExclusive(file: string, text: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx')
    await handle.writeFile(text)
    await handle.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

interface FoundLock {
  readonly text: string
  readonly owner: Owner | undefined
  readonly touchedAtMs: number
}

async function readOwner(file: string): Promise<FoundLock | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)])
    return { text, owner: parseOwner(text), touchedAtMs: mtimeMs }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function isAlive(at: { found: FoundLock; own: Owner; clock: Clock }): boolean {
  const { owner, touchedAtMs } = at.found
  const isFresh = Math.abs(at.clock.nowMs() - touchedAtMs) < STALE_AFTER_MS
  // no owner: it is being written just now, or its writer died before it could be
  if (owner === undefined || owner.host !== at.own.host) return isFresh
  return !isGone({ machine: thisProcess().machine, pid: owner.pid, began: owner.started })
}

/** Two may want to remove the same stale lock: whoever finds that it took a fresh one away gives it back. */
async function removeStale(file: string, staleText: string): Promise<void> {
  const aside = `${file}.${String(pid)}`
  try {
    await rename(file, aside)
    const taken = await readFile(aside, 'utf8')
    if (taken === staleText) await rm(aside, { force: true })
    else await rename(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function holdLock(file: string, { text, clock }: { text: string; clock: Clock }): FileLock {
  let released = false
  let cancel: (() => void) | undefined
  const touch = (): void => {
    cancel = clock.timer(HEARTBEAT_MS, beat, true)
  }
  const beat = (): void => {
    const seconds = clock.nowMs() / 1000
    void utimes(file, seconds, seconds).catch(() => undefined)
    touch()
  }
  touch()
  return {
    release: async () => {
      if (released) return
      released = true
      cancel?.()
      const found = await readOwner(file)
      if (found?.text === text) await rm(file, { force: true })
    },
  }
}

function describe(owner: Owner | undefined): string {
  return owner === undefined ? 'another process' : `process ${String(owner.pid)} on ${owner.host}`
}

function parseOwner(text: string): Owner | undefined {
  try {
    const { pid: id, host, started } = JSON.parse(text) as Partial<Record<string, unknown>>
    if (!Number.isSafeInteger(id) || Number(id) < 1 || typeof host !== 'string' || typeof started !== 'string') {
      return undefined
    }
    return { pid: Number(id), host, started }
  } catch {
    return undefined
  }
}
