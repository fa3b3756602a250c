/** Moves the write-ahead log into the database file, in a thread of its own, so that the event loop never waits for the disk. */

import { statSync } from 'node:fs'
import { isMainThread, Worker } from 'node:worker_threads'
import { driverRequire, loadDriver } from '../sqlite-driver.ts'

export interface Checkpointer {
  /** To be called after a commit: starts a checkpoint when the log has grown. */
  afterCommit(): void
  /** Leaves a small log behind, or none. */
  close(): Promise<void>
}

/** The log is copied when it is this large; the thread is not even started for a small crawl. */
const WAL_BYTES = 64 * 1024 * 1024
/** So much the closing connection may copy by itself; in a thread of the store's own nobody waits for it meanwhile. */
const WAL_BYTES_AT_CLOSE = isMainThread ? 4 * 1024 * 1024 : WAL_BYTES
/** The size of the log is asked for once in so many commits. */
const CHECK_EVERY = 32

/**
 * `pauseFor` holds back transactions for the last, short part: only when nobody writes can the log begin anew.
 * Errors are not this file's business: the next commit meets the same disk.
 */
export function createCheckpointer(path: string, pauseFor: (pause: Promise<void>) => void): Checkpointer {
  let worker: Worker | undefined
  let commits = 0
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    worker ??= startWorker(path)
    await ask(worker, 'PASSIVE')
    const truncated = ask(worker, 'TRUNCATE')
    pauseFor(truncated)
    await truncated
  }

  return {
    afterCommit: () => {
      if (++commits % CHECK_EVERY !== 0 || running !== undefined || walBytes(path) < WAL_BYTES) return
      running = run().finally(() => {
        running = undefined
      })
    },
    close: async () => {
      await running
      if (walBytes(path) > WAL_BYTES_AT_CLOSE) await ask((worker ??= startWorker(path)), 'PASSIVE')
      if (worker !== undefined) await ask(worker, 'CLOSE')
    },
  }
}

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** Code as text, so that it runs the same from TypeScript sources, from JavaScript, and inside a bundle. */
const WORKER_CODE = `
const { parentPort, workerData } = require('node:worker_threads')
process.emitWarning = () => undefined
const { DatabaseSync } = require(workerData.driver)
const db = new DatabaseSync(workerData.path, { timeout: 200 })
db.exec('PRAGMA synchronous = NORMAL')
db.exec('PRAGMA wal_autocheckpoint = 0')
parentPort.on('message', (mode) => {
  if (mode === 'CLOSE') {
    db.close()
    process.exit()
  }
  try {
    db.prepare('PRAGMA wal_checkpoint(' + mode + ')').get()
  } catch {}
  parentPort.postMessage('done')
})
`

function startWorker(path: string): Worker {
  const { name } = loadDriver()
  const driver = name.startsWith('node:') ? name : driverRequire.resolve(name)
  const worker = new Worker(WORKER_CODE, { eval: true, workerData: { path, driver } })
  worker.unref()
  worker.on('error', () => undefined)
  return worker
}

/** Resolves also when the thread dies: then the next checkpoint is the business of whoever closes the file. */
function ask(worker: Worker, mode: 'PASSIVE' | 'TRUNCATE' | 'CLOSE'): Promise<void> {
  return new Promise((resolve) => {
    // A process must not end while somebody waits for this; but it may while the thread has nothing to do.
    worker.ref()
    const end = (): void => {
      worker.unref()
      worker.off('message', end)
      worker.off('exit', end)
      resolve()
    }
    worker.on('message', end)
    worker.on('exit', end)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(mode)
  })
}
