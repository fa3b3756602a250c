// Starts a private PostgreSQL server on a free port for tests and benchmarks: `node scripts/services/postgres.mjs` prints its URL.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const USER = 'spoor'
const PASSWORD = 'not-a-secret'

/**
 * @param {{ fsync?: boolean }} [options] `fsync: false`: faster, for tests that do not cut the power
 * @returns {Promise<{ url: string, restart(mode?: 'fast' | 'immediate'): Promise<void>, halt(): Promise<void>, resume(): Promise<void>, stop(): Promise<void> }>}
 */
export async function start({ fsync = true } = {}) {
  const bin = programs()
  const owner = unprivileged()
  const dir = mkdtempSync(join(tmpdir(), 'spoor-postgres-'))
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid)
  const data = join(dir, 'data')
  const port = await freePort()
  const run = (program, ...args) => {
    const options = { ...owner, cwd: dir, env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] }
    const { status, stderr } = spawnSync(join(bin, program), args, options)
    if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
  }
  const password = join(dir, 'password')
  writeFileSync(password, PASSWORD)
  if (owner !== undefined) chownSync(password, owner.uid, owner.gid)
  run('initdb', '-D', data, '-U', USER, '--auth=scram-sha-256', `--pwfile=${password}`, '-E', 'UTF8', '--no-sync')
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: dir,
    max_connections: 200,
    shared_buffers: '256MB',
    fsync: fsync ? 'on' : 'off',
    autovacuum_naptime: '10s',
  }
  const text = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`)
  writeFileSync(join(data, 'postgresql.auto.conf'), `${text.join('\n')}\n`)
  const log = join(dir, 'log')
  // without holding up the caller, whose test site may be answering meanwhile
  const control = async (command, ...args) => {
    const options = { ...owner, cwd: dir, env: { ...process.env, LC_ALL: 'C' } }
    await promisify(execFile)(join(bin, 'pg_ctl'), ['-D', data, '-l', log, '-w', command, ...args], options)
  }
  await control('start')
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`
  let stopped = false
  return {
    url,
    restart: async (mode = 'fast') => control('restart', '-m', mode),
    halt: async () => control('stop', '-m', 'immediate'),
    resume: async () => control('start'),
    stop: async () => {
      if (stopped) return
      stopped = true
      spawnSync(join(bin, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], { ...owner, cwd: dir })
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** The folder of the newest PostgreSQL that is installed; Debian keeps them beside each other. */
function programs() {
  const found = installed()
  if (found !== undefined) return found
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'postgresql'], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const now = installed()
  if (now === undefined) throw new Error('Expected PostgreSQL under /usr/lib/postgresql after its installation')
  return now
}

function installed() {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

/** PostgreSQL refuses to run as root. */
function unprivileged() {
  if (process.getuid?.() !== 0) return undefined
  return { uid: idOf('-u'), gid: idOf('-g') }
}

function idOf(flag) {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

if (process.argv[1] === import.meta.filename) {
  const { url, stop } = await start()
  console.log(url)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().then(() => process.exit()))
  setInterval(() => undefined, 1 << 30)
}
