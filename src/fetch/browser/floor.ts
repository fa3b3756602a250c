/** The floor: the only way out that Chromium is given, which lets nothing through. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/**
 * Chromium is told that this is its proxy for every address, loopback too. What a page loads never comes here: it is
 * intercepted before and fetched by the crawler's own fetcher. Whatever is not intercepted (sockets, service workers,
 * prefetches, Chromium's own errands) ends here, whatever name or address it was for.
 */
export interface Floor {
  readonly url: string
  /** Connections that were refused. */
  refused(): number
  close(): Promise<void>
}

export async function openFloor(): Promise<Floor> {
  let refused = 0
  const server = createServer((socket) => {
    refused++
    socket.on('error', () => undefined) // it is gone
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    refused: () => refused,
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
