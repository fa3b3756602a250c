/** A fetcher that sends and keeps cookies: around any other fetcher. */

import type { CookieJars } from './cookies.ts'
import type { FetchRequest, FetchResult, Fetcher } from './contract.ts'
import { headersAll } from './headers.ts'

/** Requests without a session share this one. */
const DEFAULT_SESSION = 'default'

/** Closing it closes the fetcher inside. */
export function withCookies(fetcher: Fetcher, jars: CookieJars): Fetcher {
  return {
    fetch: async (request) => {
      const session = request.session ?? DEFAULT_SESSION
      const result = await fetcher.fetch(
        withHeader(request, jars.headerFor(session, request.url, request.headers?.['cookie'])),
      )
      keep(jars, { session, url: request.url }, result)
      return result
    },
    close: async () => {
      await fetcher.close()
    },
  }
}

function withHeader(request: FetchRequest, cookie: string | undefined): FetchRequest {
  if (cookie === undefined || cookie === request.headers?.['cookie']) return request
  return { ...request, headers: { ...request.headers, cookie } }
}

/** Also from an answer whose body was lost: its head was read, and a browser would have kept them. */
function keep(jars: CookieJars, from: { readonly session: string; readonly url: string }, result: FetchResult): void {
  if (result.headers === undefined) return
  const fields = headersAll(result.headers, 'set-cookie')
  if (fields.length > 0) jars.receive(from.session, from.url, fields)
}
