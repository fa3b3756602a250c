/** Hosts that take a connection and never say a word: those that answer are crawled all the same. */

import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { Crawler } from '../../../src/index.ts'
import { openTemporaryFolder } from '../../support/command.ts'

const PAGES = 30
const INDEX = Array.from({ length: PAGES }, (_, page) => `<a href="/${page}">${page}</a>`).join('')

/** One server for all hosts; `onPage` is told of each page of the one that answers. */
async function openHosts(onPage: (pages: number) => void) {
  let pages = 0
  const server = createServer((request, response) => {
    if (request.headers.host !== 'living.test') return
    response.setHeader('content-type', 'text/html')
    response.end(request.url === '/' ? INDEX : '<p>A page')
    onPage(++pages)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    connectTo: [`::127.0.0.1:${(server.address() as AddressInfo).port}`],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

it('silent hosts do not take all places of those that answer', async () => {
  await using folder = await openTemporaryFolder()
  const whole = new EventEmitter()
  await using hosts = await openHosts((pages) => {
    if (pages === PAGES + 1) whole.emit('whole')
  })
  const crawler = new Crawler({
    dir: folder.path,
    connectTo: hosts.connectTo,
    maxConcurrency: 8,
    delayMs: 0,
    robots: false,
    // whoever is silent holds its place until this test is over
    timeoutMs: 3_600_000,
  })
  whole.once('whole', () => {
    crawler.abort()
  })
  const silent = Array.from({ length: 40 }, (_, n) => `http://silent${n}.test/`)
  await expect(crawler.run(['http://living.test/', ...silent])).resolves.toMatchObject({ failed: 0 })
}, 60_000)
