// What `npm start` and `npm test` do first: install what is missing, build what is older than its sources, run a child to its end.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)

/** Exits with npm's status when the installation does not succeed. */
export function installIfMissing() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const missing = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !existsSync(join(root, 'node_modules', name, 'package.json')),
  )
  if (missing.length === 0) return
  // `ci` takes exactly what the lock file says but begins by deleting; what is half there is completed instead
  const whole = !existsSync(join(root, 'node_modules')) && existsSync(join(root, 'package-lock.json'))
  const args = [whole ? 'ci' : 'install', '--include=dev', '--no-audit', '--no-fund']
  console.error(`Installing dependencies (npm ${args[0]}), the first time only…`)
  run('npm', args, { shell: process.platform === 'win32' })
}

/** Exits with the status of the build when it does not succeed. */
export function buildIfStale() {
  const built = modifiedAt(join(root, 'dist/cli/main.js'))
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|css|html|svg)$/.test(name))
    .map((name) => join(root, 'src', name))
  const newest = Math.max(...[...sources, join(root, 'tsconfig.json'), join(root, 'package.json')].map(modifiedAt))
  if (newest <= built) return
  console.error(built === 0 ? 'Building…' : 'Building again: the sources are newer than dist/…')
  run(process.execPath, [join(root, 'scripts/build.mjs')])
}

/** 0 when there is no such file. */
const modifiedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function run(command, args, options = {}) {
  // stdout is kept for results
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options })
  if (status === 0) return
  if (error !== undefined) console.error(`${command}: ${error.message}`)
  process.exit(status ?? 1)
}

/** Runs a script of Node; its exit status becomes ours, our signals become its. */
export function become(args, options = {}) {
  const child = spawn(process.execPath, args, { stdio: 'inherit', ...options })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
  })
}
