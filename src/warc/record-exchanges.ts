/** A fetcher that writes down what went over the wire. Stands inside the cache: what that answers is no exchange. */

import type { Clock } from '../core/clock.ts'
import type { Fetcher, FetchRequest, FetchResponse } from '../fetch/contract.ts'
import type { WarcExchange, WarcWriter } from './contract.ts'

export interface RecordOptions {
  readonly fetcher: Fetcher
  readonly writer: Pick<WarcWriter, 'write'>
  readonly clock: Clock
}

/**
 * An answer is passed on when its records are written; where they cannot be, the fetch rejects, so that no page counts
 * that the archive does not have. Closing it closes the fetcher, not the writer.
 */
export function recordExchanges({ fetcher, writer, clock }: RecordOptions): Fetcher {
  return {
    fetch: async (request) => {
      const dateMs = clock.nowMs()
      const result = await fetcher.fetch(request)
      if (result.kind === 'response') await writer.write(exchangeOf(request, result, dateMs))
      return result
    },
    close: () => fetcher.close(),
  }
}

function exchangeOf(request: FetchRequest, response: FetchResponse, dateMs: number): WarcExchange {
  const { status, headers, body, truncated, remoteAddress, timings } = response
  return {
    url: request.url,
    dateMs,
    method: request.method ?? 'GET',
    requestHeaders: request.headers ?? {},
    ...(request.body === undefined ? {} : { requestBody: request.body }),
    status,
    headers,
    body,
    ...(truncated ? { truncated: 'length' as const } : {}),
    ...(remoteAddress === undefined ? {} : { ip: remoteAddress }),
    metadata: { fetchTimeMs: String(Math.round(timings.totalMs)) },
  }
}
