// A private Redis server for tests and benches: installed when it is missing, started on a free port in a folder of its own.
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const START_TIMEOUT_MS = 20_000

/**
 * Starts the server; `args` are added to its command line. `restart` kills it and starts it again on the same data.
 * @param {{ args?: readonly string[] }} [options]
 * @returns {Promise<import('./redis.d.mts').RedisService>}
 */
export async function start({ args = [] } = {}) {
  install()
  const dir = mkdtempSync(join(tmpdir(), 'spoor-redis-'))
  const user = unprivilegedUser()
  if (user !== undefined) chownSync(dir, user.uid, user.gid)
  const port = await freePort()
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--daemonize', 'no', '--save', '']
  // everysec answers before it writes, while an fsync of before is under way: what is killed then forgets what it said
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction']
  const launch = async () => {
    const child = spawn('redis-server', [...own, ...durable, ...args], { stdio: 'ignore', ...user })
    const ended = new Promise((resolve) => {
      child.once('exit', resolve)
      child.once('error', resolve)
    })
    await untilListening(port, child)
    return { child, ended }
  }
  let server = await launch()
  const kill = async (signal) => {
    server.child.kill(signal)
    await server.ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => server.child.pid,
    restart: async () => {
      await kill('SIGKILL')
      server = await launch()
    },
    halt: () => kill('SIGKILL'),
    resume: async () => {
      server = await launch()
    },
    stop: async () => {
      await kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function install() {
  if (spawnSync('redis-server', ['--version']).status === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error('redis-server is not installed, and only root on Debian can install it here')
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const get = ['install', '-y', '-q', '--no-install-recommends', 'redis-server']
  if (spawnSync('apt-get', get, { env }).status !== 0) {
    spawnSync('apt-get', ['update', '-q'], { env })
    const { status, stderr } = spawnSync('apt-get', get, { env })
    if (status !== 0) throw new Error(`redis-server cannot be installed: ${String(stderr).slice(-500)}`)
  }
}

/** Undefined: we have no rights to drop. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'redis']).stdout))
  return uid > 0 && gid > 0 ? { uid, gid } : undefined
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

async function untilListening(port, child) {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += 20) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with status ${child.exitCode}`)
    // one that wants a password listens, too; one that loads its data does not yet
    if (/^(\+PONG|-NOAUTH)/.test(await ask(port, 'PING\r\n'))) return
    await sleep(20)
  }
  child.kill('SIGKILL')
  throw new Error(`redis-server did not answer within ${START_TIMEOUT_MS} ms`)
}

/** One inline command; empty when nobody answers. */
function ask(port, command) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(command))
    socket.once('data', (data) => {
      resolve(String(data))
      socket.destroy()
    })
    socket.once('error', () => resolve(''))
    socket.once('close', () => resolve(''))
  })
}

// On its own: prints the URL and runs until it is told to stop.
if (import.meta.filename === process.argv[1]) {
  const { url, stop } = await start()
  console.log(url)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().then(() => process.exit(0)))
}
