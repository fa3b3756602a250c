/** A proxy on loopback: HTTP (absolute form and CONNECT) or SOCKS5, with or without a password; everything leads to one port. */

import http from 'node:http'
import net, { type AddressInfo } from 'node:net'

export interface ProxyServer extends AsyncDisposable {
  readonly port: number
  /** What was asked of it: `GET http://…`, `CONNECT host:port`, `SOCKS host:port`. */
  readonly asked: string[]
}

export interface ProxyServerOptions {
  readonly to: number
  /** `user:password` */
  readonly auth?: string
  /** Answers this to every CONNECT. */
  readonly status?: number
}

export async function startHttpProxy(options: ProxyServerOptions): Promise<ProxyServer> {
  const asked: string[] = []
  const wanted = options.auth === undefined ? undefined : `Basic ${Buffer.from(options.auth).toString('base64')}`
  const server = http.createServer((request, answer) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted) {
      answer.writeHead(407).end()
      return
    }
    const { 'proxy-authorization': _secret, ...headers } = request.headers
    const url = new URL(request.url ?? '')
    const onward = {
      port: options.to,
      host: '127.0.0.1',
      path: url.pathname + url.search,
      headers,
      method: request.method ?? 'GET',
    }
    request.pipe(
      http.request(onward, (upstream) => {
        answer.writeHead(upstream.statusCode ?? 502, upstream.headers)
        upstream.pipe(answer)
      }),
    )
  })
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url ?? ''}`)
    socket.on('error', () => {})
    const denied = wanted !== undefined && request.headers['proxy-authorization'] !== wanted
    if (denied || options.status !== undefined) {
      socket.end(`HTTP/1.1 ${denied ? 407 : (options.status ?? 500)} No\r\n\r\n`)
      return
    }
    bridge(socket as net.Socket, options.to, 'HTTP/1.1 200 Connection established\r\n\r\n')
  })
  return await listen(server, asked)
}

export async function startSocksProxy(options: ProxyServerOptions & { readonly reply?: number }): Promise<ProxyServer> {
  const asked: string[] = []
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    void greet(socket, options, asked)
  })
  return await listen(server, asked)
}

async function greet(
  socket: net.Socket,
  options: ProxyServerOptions & { readonly reply?: number },
  asked: string[],
): Promise<void> {
  const next = reader(socket)
  const hello = await next()
  const method = options.auth === undefined ? 0 : 2
  if (!hello.subarray(2).includes(method)) {
    socket.end(Buffer.from([5, 0xff]))
    return
  }
  socket.write(Buffer.from([5, method]))
  if (options.auth !== undefined && !(await logIn(socket, await next(), options.auth))) return
  const request = await next()
  const name = request[3] === 3 ? request.subarray(5, 5 + (request[4] ?? 0)).toString() : `type ${request[3] ?? ''}`
  asked.push(`SOCKS ${name}:${request.readUInt16BE(request.length - 2)}`)
  const reply = options.reply ?? 0
  if (reply === 0) bridge(socket, options.to, Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]))
  else socket.end(Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]))
}

async function logIn(socket: net.Socket, login: Buffer, auth: string): Promise<boolean> {
  const length = login[1] ?? 0
  const good = `${login.subarray(2, 2 + length).toString()}:${login.subarray(3 + length).toString()}` === auth
  socket.write(Buffer.from([1, good ? 0 : 1]))
  if (!good) socket.end()
  return good
}

function reader(socket: net.Socket): () => Promise<Buffer> {
  return async () =>
    await new Promise<Buffer>((resolve) => {
      socket.once('data', (chunk) => {
        socket.pause()
        resolve(chunk)
      })
      socket.resume()
    })
}

function bridge(socket: net.Socket, port: number, greeting: string | Buffer): void {
  const onward = net.connect(port, '127.0.0.1', () => {
    socket.write(greeting)
    socket.pipe(onward)
    onward.pipe(socket)
  })
  onward.on('error', () => socket.destroy())
  socket.on('close', () => onward.destroy())
}

async function listen(server: net.Server, asked: string[]): Promise<ProxyServer> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
