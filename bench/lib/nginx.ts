/** An nginx with a configuration of its own that serves one folder on a free port of the loopback address. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface WebServer {
  readonly origin: string
  close(): Promise<void>
}

const START_WITHIN_MS = 10_000

export function hasNginx(): boolean {
  return spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status === 0
}

export async function openNginx(root: string): Promise<WebServer> {
  const folder = mkdtempSync(join(tmpdir(), 'spoor-nginx-'))
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  writeFileSync(config, configOf(root, folder, port))
  const child = spawn('nginx', ['-p', folder, '-c', config, '-e', join(folder, 'error.log')], { stdio: 'inherit' })
  await untilListening(port)
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGQUIT')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function configOf(root: string, folder: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  types { text/html html; }
  access_log off;
  gzip off;
  sendfile on;
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  server { listen 127.0.0.1:${port} backlog=4096; root ${root}; }
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

async function untilListening(port: number): Promise<void> {
  for (const startMs = performance.now(); performance.now() - startMs < START_WITHIN_MS; await delay(20)) {
    const socket = connect(port, '127.0.0.1')
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
  throw new Error(`nginx does not listen on port ${port} after ${START_WITHIN_MS} ms`)
}
