/** A private server that speaks MongoDB's protocol, for tests: FerretDB over SQLite, built once and kept in the user's cache. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

const MODULE = 'github.com/FerretDB/FerretDB'
const VERSION = 'v1.24.2'
const READY_WITHIN_MS = 20_000
const STOP_WITHIN_MS = 5000

/**
 * Starts a server on a free loopback port with its data in a folder of its own, which `stop` removes.
 * @param {import('./mongodb.d.mts').MongodbServiceOptions} [options]
 * @returns {Promise<import('./mongodb.d.mts').MongodbService>}
 */
export async function start({ setup } = {}) {
  const binary = process.env['SPOOR_FERRETDB'] ?? build()
  const folder = mkdtempSync(join(tmpdir(), 'spoor-mongodb-'))
  const port = await freePort()
  const launch = async () => {
    const server = spawn(binary, flagsOf({ folder, port, setup }), { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    server.stderr.on('data', (chunk) => {
      said = (said + chunk).slice(-2000)
    })
    await untilListening(port, () => (server.exitCode === null ? undefined : said))
    return server
  }
  let server = await launch()
  const end = async (signal) => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    const late = setTimeout(() => server.kill('SIGKILL'), STOP_WITHIN_MS)
    server.kill(signal)
    await ended
    clearTimeout(late)
  }
  return {
    url: `mongodb://127.0.0.1:${port}/spoor`,
    port,
    restart: async () => {
      await end('SIGKILL')
      server = await launch()
    },
    halt: () => end('SIGKILL'),
    resume: async () => {
      server = await launch()
    },
    stop: async () => {
      await end('SIGTERM')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function flagsOf({ folder, port, setup }) {
  const login =
    setup === undefined
      ? []
      : [
          '--test-enable-new-auth',
          '--setup-database=admin',
          `--setup-username=${setup.user}`,
          `--setup-password=${setup.password}`,
        ]
  return [
    '--handler=sqlite',
    // as much as a kill can take: no wait for the disk at each write
    `--sqlite-url=file:${folder}/?_pragma=synchronous(normal)`,
    `--listen-addr=127.0.0.1:${port}`,
    '--debug-addr=-',
    '--telemetry=disable',
    '--log-level=error',
    '--mode=normal',
    `--state-dir=${folder}`,
    ...login,
  ]
}

/** `go install` alone gives a program that stops at once: the file with its version is not part of the module. */
function build() {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'spoor')
  const binary = join(cache, `ferretdb-${VERSION}-indexed`)
  if (existsSync(binary)) return binary
  if (spawnSync('go', ['version']).status !== 0) {
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'golang-go'], { stdio: 'inherit' })
  }
  const module = execFileSync('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`], { cwd: tmpdir() })
  const source = mkdtempSync(join(tmpdir(), 'spoor-ferretdb-'))
  try {
    cpSync(JSON.parse(module.toString()).Dir, source, { recursive: true })
    execFileSync('chmod', ['-R', 'u+w', source])
    writeFileSync(join(source, 'build/version/version.txt'), `${VERSION}\n`)
    useIndex(join(source, 'internal/backends/sqlite/metadata/metadata.go'))
    execFileSync('go', ['build', '-o', join(source, 'ferretdb.out'), './cmd/ferretdb'], {
      cwd: source,
      stdio: 'inherit',
    })
    mkdirSync(cache, { recursive: true })
    cpSync(join(source, 'ferretdb.out'), `${binary}.${process.pid}`)
    renameSync(`${binary}.${process.pid}`, binary)
  } finally {
    rmSync(source, { recursive: true, force: true })
  }
  return binary
}

/**
 * FerretDB writes the same path in its index and in its queries in two ways, so that SQLite reads a whole collection for
 * each look-up by _id. Only what a look-up costs depends on this line.
 */
function useIndex(file) {
  const text = readFileSync(file, 'utf8')
  const found = `IDColumn = DefaultColumn + "->'$._id'"`
  if (!text.includes(found)) throw new Error(`Expected ${found} in ${file}`)
  writeFileSync(file, text.replace(found, 'IDColumn = DefaultColumn + "->\\"_id\\""'))
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

async function untilListening(port, failure) {
  const untilMs = Date.now() + READY_WITHIN_MS
  while (Date.now() < untilMs) {
    const said = failure()
    if (said !== undefined) throw new Error(`FerretDB ended at its start: ${said}`)
    if (await accepts(port)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`FerretDB does not listen on port ${port} after ${READY_WITHIN_MS} ms`)
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
