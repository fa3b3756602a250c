/** A process that fills a download cache on a server, and is killed in the middle of it. */

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('cache-writer-child.ts', import.meta.url))

export interface CacheWriterOptions {
  readonly url: string
  /** What its clock says all the time. */
  readonly nowMs: number
  /** The number of its first page: see server-cache-pages.ts. */
  readonly from: number
  readonly maxBytes?: number
}

export interface CacheWriter {
  /** Resolves when so many pages are acknowledged; rejects when it ends before. */
  waitFor(pages: number): Promise<void>
  /** Kills it, and answers the numbers of the pages that it has acknowledged. */
  kill(): Promise<readonly number[]>
}

export function startCacheWriter({ url, nowMs, from, maxBytes = 0 }: CacheWriterOptions): CacheWriter {
  const args = [url, nowMs, from, maxBytes].map(String)
  const child = spawn(process.execPath, ['--import', 'jiti/register', CHILD, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const told: number[] = []
  const waiting = new Set<() => void>()
  const lines = createInterface({ input: child.stdout }).on('line', (line) => {
    told.push(Number(line))
    for (const look of waiting) look()
  })
  const read = new Promise<void>((resolve) => lines.once('close', resolve))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    waitFor: (pages) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (told.length < pages) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
        void ended.then(() => reject(new Error(`the writer ended after ${told.length} of ${pages} pages`)))
      }),
    kill: async () => {
      child.kill('SIGKILL')
      await Promise.all([ended, read])
      return told
    },
  }
}
