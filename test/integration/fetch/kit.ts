/** What the tests of the fetcher share: opening, serving, and taking results apart. */

import http from 'node:http'
import type { AddressInfo } from 'node:net'

import type { FetchFailure, FetchRequest, FetchResponse, FetchResult } from '../../../src/fetch/contract.ts'
import { openHttpFetcher, type HttpFetcher, type HttpFetcherOptions } from '../../../src/fetch/http/fetcher.ts'
import { startRawServer } from './raw-server.ts'

const opened: HttpFetcher[] = []

export function open(options: Partial<HttpFetcherOptions> = {}): HttpFetcher {
  const fetcher = openHttpFetcher({ userAgent: 'spoor/0', ...options })
  opened.push(fetcher)
  return fetcher
}

/** For afterEach. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((fetcher) => fetcher.close()))
}

export async function serve(
  handler: http.RequestListener,
): Promise<AsyncDisposable & { readonly url: string; readonly server: http.Server }> {
  const server = http.createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export function response(result: FetchResult): FetchResponse {
  if (result.kind === 'failure') throw new Error(`${result.failure}: ${result.error}`)
  return result
}

export function failureOf(result: FetchResult): FetchFailure {
  if (result.kind === 'response') throw new Error(`expected a failure, found ${result.status}`)
  return result
}

/** One request to a server that answers with these bytes. */
export async function raw(
  answer: string | Buffer,
  options: {
    readonly keep?: boolean
    readonly request?: Partial<FetchRequest>
    readonly fetcher?: Partial<HttpFetcherOptions>
  } = {},
): Promise<FetchResult> {
  await using server = await startRawServer(({ socket }) => {
    socket.write(typeof answer === 'string' ? Buffer.from(answer, 'latin1') : answer)
    if (options.keep !== true) socket.end()
  })
  const fetcher = open(options.fetcher)
  try {
    return await fetcher.fetch({ url: server.url, allowPrivate: true, timeoutMs: 5000, ...options.request })
  } finally {
    await fetcher.close()
  }
}

export const text = (result: FetchResult): string => Buffer.from(response(result).body).toString('latin1')
