// Compiles src/ to dist/. The new dist/ takes the old one's place only when it is whole, so that a running command is not pulled apart.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const dist = join(root, 'dist')
const fresh = join(root, `dist-${process.pid}`)
const old = join(root, `dist-old-${process.pid}`)
const bin = join(root, 'node_modules/.bin/spoor')

process.on('exit', () => {
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true })
})

const started = performance.now()
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const { status, error } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.json', '--outDir', fresh], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) {
  console.error(`build: TypeScript found errors${error === undefined ? '' : ` (${error.message})`}; dist/ is as it was`)
  process.exit(1)
}
chmodSync(join(fresh, 'cli/main.js'), 0o755)
if (existsSync(dist)) renameSync(dist, old)
renameSync(fresh, dist)

// `npx spoor` in this folder finds the command as it would in a project that depends on the package
if (process.platform !== 'win32') {
  mkdirSync(dirname(bin), { recursive: true })
  rmSync(bin, { force: true })
  symlinkSync('../../dist/cli/main.js', bin)
}
console.error(`build: dist/ in ${((performance.now() - started) / 1000).toFixed(1)} s`)
