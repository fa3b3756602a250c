/** A line to a server that can be cut, or held so that nothing comes through, and made whole again. */

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface TcpProxy extends AsyncDisposable {
  /** The given URL with the proxy in the server's place. */
  readonly url: string
  /** Connections break, and new ones do. */
  cut(): void
  /** Connections stay, and nothing that is sent arrives: a network that has fallen apart. */
  hold(): void
  /** What was held goes on its way; new connections are made again. */
  mend(): void
}

export async function openTcpProxy(to: string): Promise<TcpProxy> {
  const target = new URL(to)
  const sockets = new Set<Socket>()
  let state: 'whole' | 'cut' | 'held' = 'whole'
  const server = createServer((client) => {
    if (state === 'cut') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        other.destroy()
      })
      from.on('data', (chunk) => {
        other.write(chunk)
      })
      if (state === 'held') from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(to)
  url.port = String((server.address() as AddressInfo).port)
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    url: url.href,
    cut: () => {
      state = 'cut'
      breakAll()
    },
    hold: () => {
      state = 'held'
      for (const socket of sockets) socket.pause()
    },
    mend: () => {
      state = 'whole'
      for (const socket of sockets) socket.resume()
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      breakAll()
      await once(server, 'close')
    },
  }
}
