/** An nginx with a configuration of its own that serves one folder on loopback addresses and logs every request. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LOG_FORMAT, RequestLog, pageKey } from './request-log.ts'

export interface WebServer {
  readonly port: number
  readonly log: RequestLog
  /** Resolves when the log holds every request that was answered before the call. */
  flushLog(): Promise<void>
  close(): Promise<void>
}

const START_WITHIN_MS = 10_000
const FLUSH_WITHIN_MS = 10_000
/** Answered by nginx itself; names no file of a site. */
const MARK_PATH = '/.bench-mark-'

export function hasNginx(): boolean {
  return spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status === 0
}

/** Listens on one port of each address. */
export async function openNginx(root: string, addresses: readonly string[] = ['127.0.0.1']): Promise<WebServer> {
  const folder = mkdtempSync(join(tmpdir(), 'spoor-nginx-'))
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  const logPath = join(folder, 'access.log')
  writeFileSync(logPath, '')
  writeFileSync(config, configOf({ root, folder, addresses, port }))
  const child = spawn('nginx', ['-p', folder, '-c', config, '-e', join(folder, 'error.log')], { stdio: 'inherit' })
  const [address = '127.0.0.1'] = addresses
  await untilListening(address, port)
  const log = new RequestLog(logPath)
  let marks = 0
  return {
    port,
    log,
    flushLog: async () => {
      const mark = `${MARK_PATH}${(marks += 1)}`
      await request(`http://${address}:${port}${mark}`)
      // one worker, one buffer: what was answered earlier stands in the log before the mark
      for (const startMs = performance.now(); ; await delay(20)) {
        log.read()
        if (log.has(pageKey(address, mark))) return
        if (performance.now() - startMs > FLUSH_WITHIN_MS)
          throw new Error(`nginx logged nothing for ${FLUSH_WITHIN_MS} ms`)
      }
    },
    close: async () => {
      const gone = once(child, 'exit')
      // SIGTERM: does not wait for connections that a killed crawler left
      child.kill('SIGTERM')
      await gone
      log.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Configuration {
  readonly root: string
  readonly folder: string
  readonly addresses: readonly string[]
  readonly port: number
}

function configOf({ root, folder, addresses, port }: Configuration): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  types { text/html html; image/svg+xml svg; text/css css; text/javascript js; image/png png; }
  log_format bench '${LOG_FORMAT}';
  access_log ${folder}/access.log bench buffer=64k flush=100ms;
  gzip off;
  sendfile on;
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  server {
    ${addresses.map((address) => `listen ${address}:${port} backlog=4096;`).join(' ')}
    root ${root};
    location ${MARK_PATH} { return 200; }
  }
}
`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function request(url: string): Promise<void> {
  const [response] = (await once(get(url, { agent: false }), 'response')) as [NodeJS.ReadableStream]
  response.resume()
  await once(response, 'end')
}

async function untilListening(address: string, port: number): Promise<void> {
  for (const startMs = performance.now(); performance.now() - startMs < START_WITHIN_MS; await delay(20)) {
    const socket = connect(port, address)
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => {
        resolve(true)
      })
      socket.once('error', () => {
        resolve(false)
      })
    })
    socket.destroy()
    if (open) return
  }
  throw new Error(`nginx does not listen on ${address}:${port} after ${START_WITHIN_MS} ms`)
}
