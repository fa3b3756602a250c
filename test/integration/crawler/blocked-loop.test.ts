/** A handler that blocks the event loop is named, and what the network did meanwhile is not held against it. */

import { EventEmitter, once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { Crawler } from '../../../src/index.ts'
import { type LogFields, type Logger, silentLogger } from '../../../src/core/logger.ts'
import { openTemporaryFolder } from '../../support/command.ts'
import { failuresOf } from './support.ts'

/** Longer than the time-out below. */
const SPIN_MS = 2500
const TIMEOUT_MS = 1500

/** A server in a thread of its own. It answers `/slow` once the test lets it, and every other page at once. */
const SERVER = `
const { createServer } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')
const state = new Int32Array(workerData)
const server = createServer((request, response) => {
  response.setHeader('content-type', 'text/html')
  if (request.url !== '/slow') return response.end(request.url === '/robots.txt' ? '' : '<title>page</title>')
  parentPort.postMessage('asked')
  const look = () => Atomics.load(state, 0) === 1 ? response.end('<title>slow</title>') : setTimeout(look, 5)
  look()
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

function spin(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

function createListener() {
  const warnings: (LogFields & { readonly message: string })[] = []
  const warn = (fields: LogFields, message: string): void => {
    warnings.push({ ...fields, message })
  }
  const log: Logger = { ...silentLogger, warn }
  return { warnings, log }
}

async function openServer() {
  const shared = new SharedArrayBuffer(4)
  const state = new Int32Array(shared)
  const worker = new Worker(SERVER, { eval: true, workerData: shared })
  const [port] = (await once(worker, 'message')) as [number]
  return {
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    asked: once(worker, 'message'),
    release: () => {
      Atomics.store(state, 0, 1)
    },
    [Symbol.asyncDispose]: async () => {
      await worker.terminate()
    },
  }
}

it('a request in flight does not fail for the time that a handler has blocked', async () => {
  await using folder = await openTemporaryFolder()
  await using server = await openServer()
  const { warnings, log } = createListener()
  const titles: string[] = []
  const crawler = new Crawler({
    dir: folder.path,
    log,
    timeoutMs: TIMEOUT_MS,
    maxConcurrency: 2,
    delayMs: 0,
    perHost: 2,
    maxRequestRetries: 0,
    rules: [
      {
        match: '**/spin',
        handler: async function countPrimes() {
          await server.asked
          spin(SPIN_MS)
          server.release()
        },
      },
      { handler: ({ page }) => titles.push(page.title ?? '') },
    ],
  })
  const summary = await crawler.run([server.url('/spin'), server.url('/slow')])
  expect(await failuresOf(folder.path)).toEqual([])
  expect(summary).toMatchObject({ pages: 2, failed: 0 })
  expect(titles).toEqual(['slow'])
  const told = warnings.filter(({ message }) => message.includes('blocked the event loop'))
  expect(told).toContainEqual(
    expect.objectContaining({ handler: '**/spin (countPrimes)', task: 'default', url: server.url('/spin') }),
  )
}, 300_000)

it('a handler that blocks before its first wait is named, among others as well', async () => {
  await using folder = await openTemporaryFolder()
  await using server = await openServer()
  const { warnings, log } = createListener()
  const spinning = new EventEmitter()
  const spun = once(spinning, 'end')
  const crawler = new Crawler({
    dir: folder.path,
    log,
    maxConcurrency: 2,
    rules: [
      { label: 'quiet', handler: () => spun },
      {
        label: 'detail',
        handler: () => {
          spin(1200)
          spinning.emit('end')
        },
      },
    ],
  })
  await crawler.run([
    { url: server.url('/quiet'), label: 'quiet' },
    { url: server.url('/detail'), label: 'detail' },
  ])
  const told = warnings.filter(({ message }) => message.includes('blocked the event loop'))
  expect(told).toContainEqual(expect.objectContaining({ handler: 'detail', url: server.url('/detail') }))
}, 300_000)
