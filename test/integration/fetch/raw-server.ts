/** A TCP server that answers each request with given bytes: what a real HTTP server would not send. */

import net from 'node:net'

export interface RawServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Heads of the requests as they came. */
  readonly requests: readonly string[]
  /** Connections accepted so far, and those open now. */
  readonly connections: () => number
  readonly open: () => number
}

export interface RawExchange {
  readonly socket: net.Socket
  readonly head: string
  /** Counted from 0, over all connections. */
  readonly index: number
  /** Counted from 0 on this connection. */
  readonly onConnection: number
}

export async function startRawServer(answer: (exchange: RawExchange) => void): Promise<RawServer> {
  const requests: string[] = []
  const sockets = new Set<net.Socket>()
  let accepted = 0
  const server = net.createServer((socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let text = ''
    let onConnection = 0
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end)
        text = text.slice(end + 4)
        requests.push(head)
        answer({ socket, head, index: requests.length - 1, onConnection: onConnection++ })
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    requests,
    connections: () => accepted,
    open: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
