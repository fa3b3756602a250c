/** Forgetting: pages that are too old, then those used least recently, and what dead writers left. */

import { rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { PruneOptions, PruneResult } from '../../cache/contract.ts'
import type { Clock } from '../../core/clock.ts'
import { META_ENDING, readMeta, removePage, settleIncoming, usedAtMs } from './page-file.ts'
import { removeEmptyFolders, walkLeftovers, walkPages } from './walk.ts'

const HOUR_MS = 3_600_000
/** How finely pages are told apart by when they were last used. */
const USED_STEP_MS = 60_000
/** What `stat` counts blocks in, whatever the file system's own are. */
const BLOCK_BYTES = 512

export interface PrunePlace {
  readonly root: string
  readonly clock: Clock
  /** Where a pass over all pages ended for want of time: the next one goes on there. */
  readonly progress: { after: string }
}

interface Pruning extends PrunePlace {
  readonly options: PruneOptions
  readonly isOver: () => boolean
  entries: number
  bytes: number
}

export async function pruneFiles(place: PrunePlace, options: PruneOptions): Promise<PruneResult> {
  const { clock } = place
  const untilMs = options.budgetMs === undefined ? Infinity : clock.monotonicMs() + options.budgetMs
  const isOver = (): boolean => options.signal?.aborted === true || clock.monotonicMs() > untilMs
  const pruning: Pruning = { ...place, options, isOver, entries: 0, bytes: 0 }
  if (options.checkedBeforeMs !== undefined) await removeExpired(pruning, options.checkedBeforeMs)
  await removeLeftovers(pruning)
  if (options.maxBytes !== undefined) await evict(pruning, options.maxBytes)
  return { entries: pruning.entries, bytes: pruning.bytes, finished: !isOver() }
}

async function removeLeftovers({ root, clock, isOver }: Pruning): Promise<void> {
  for await (const path of walkLeftovers(root)) {
    if (isOver()) return
    const changedMs = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    )
    if (clock.nowMs() - changedMs <= HOUR_MS || (await settleIncoming(path))) continue
    await rm(path, { force: true })
    await removeEmptyFolders(root, relative(root, dirname(path)).split(sep))
  }
}

/** Once through all pages, from where the last pass ended: many short passes see all of a large cache as well. */
async function removeExpired(pruning: Pruning, beforeMs: number): Promise<void> {
  const { root, isOver, progress } = pruning
  const from = progress.after
  // the second round meets some pages again: it costs time only where there is time
  for (const after of from === '' ? [''] : [from, '']) {
    for await (const page of walkPages(root, after)) {
      if (isOver()) return
      const meta = await readMeta(join(root, page))
      // Torn metadata are of nobody.
      if (meta === undefined || meta.checkedAtMs < beforeMs) await remove(pruning, page)
      progress.after = page
    }
    progress.after = ''
  }
}

async function remove(pruning: Pruning, page: string): Promise<number> {
  const file = join(pruning.root, page)
  const bytes = await pageBytes(file)
  if (!(await removePage(file))) return 0
  pruning.entries += 1
  pruning.bytes += bytes
  await removeEmptyFolders(pruning.root, page.split('/').slice(0, -1))
  return bytes
}

/** Passes instead of a list of all pages in memory: when they were used, then those used before. */
async function evict(pruning: Pruning, maxBytes: number): Promise<void> {
  const { root, isOver } = pruning
  const perStep = new Map<number, number>()
  let total = 0
  for await (const page of walkPages(root)) {
    if (isOver()) return
    const bytes = await pageBytes(join(root, page))
    const step = await usedStep(join(root, page))
    perStep.set(step, (perStep.get(step) ?? 0) + bytes)
    total += bytes
  }
  const above = total - maxBytes
  if (above <= 0) return
  let freed = 0
  let newest = -Infinity
  for (const step of [...perStep.keys()].toSorted((a, b) => a - b)) {
    newest = step
    freed += perStep.get(step) ?? 0
    if (freed >= above) break
  }
  const left = above - (await removeUsed(pruning, Infinity, (step) => step < newest))
  await removeUsed(pruning, left, (step) => step === newest)
}

/** Answers how many bytes are free now; stops when it is enough. */
async function removeUsed(pruning: Pruning, enough: number, isOld: (step: number) => boolean): Promise<number> {
  let freed = 0
  for await (const page of walkPages(pruning.root)) {
    if (freed >= enough || pruning.isOver()) break
    if (isOld(await usedStep(join(pruning.root, page)))) freed += await remove(pruning, page)
  }
  return freed
}

async function usedStep(file: string): Promise<number> {
  return Math.floor(((await usedAtMs(file)) ?? 0) / USED_STEP_MS)
}

/** Body and metadata. */
export async function pageBytes(file: string): Promise<number> {
  return (await diskBytesOf(file)) + (await diskBytesOf(file + META_ENDING))
}

/** What a file takes of its disk: whole blocks, which for small pages is many times their length. */
export async function diskBytesOf(file: string): Promise<number> {
  try {
    const { size, blocks } = await stat(file)
    // file systems that give room late, or pack, count fewer blocks than there are bytes
    return Math.max(size, blocks * BLOCK_BYTES)
  } catch {
    return 0
  }
}
