/** A fetcher that shows itself as one browser to each host: around any other fetcher. */

import type { Fetcher } from './contract.ts'
import type { Identities } from './user-agent.ts'

/** What the caller gives goes over it. Closing it closes the fetcher inside. */
export function withIdentity(fetcher: Fetcher, identities: Identities): Fetcher {
  return {
    fetch: async (request) => {
      const own = identities.headersFor(request.session ?? 'default', request.url)
      return await fetcher.fetch({ ...request, headers: { ...own, ...request.headers } })
    },
    close: async () => {
      await fetcher.close()
    },
  }
}
