// Makes dist/ of src/: declarations, bundles (bundle.mjs) and the page of the dashboard. The new dist/ takes the old one's place only when it is whole, so that a running command is not pulled apart.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { bundlePackage } from './bundle.mjs'

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
const declarations = [tsc, '-p', 'tsconfig.json', '--emitDeclarationOnly', '--outDir', fresh]
const { status, error } = spawnSync(process.execPath, declarations, { cwd: root, stdio: 'inherit' })
if (status !== 0) {
  console.error(`build: TypeScript found errors${error === undefined ? '' : ` (${error.message})`}; dist/ is as it was`)
  process.exit(1)
}
await bundlePackage(root, fresh)
await bundlePage(join(root, 'src/dashboard/ui'), join(fresh, 'dashboard/page'))
writeLicences(join(fresh, 'graph/licences.txt'), ['graphology', 'graphology-layout-forceatlas2', 'graphology-utils'])
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

/** Everything the page needs, in files of its own: it asks nothing of anybody else. */
async function bundlePage(from, to) {
  await build({
    entryPoints: [join(from, 'main.tsx'), join(from, 'main.css')],
    outdir: to,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  })
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(from, name), join(to, name))
  writeLicences(join(to, 'licences.txt'), [
    'preact',
    'uplot',
    'prom-client',
    'tdigest',
    'bintrees',
    '@opentelemetry/api',
  ])
}

/** What is passed on is passed on with its licence. */
function writeLicences(file, names) {
  const licences = names.map((name) => {
    const folder = join(root, 'node_modules', name)
    const found = ['LICENSE', 'LICENSE.txt'].find((candidate) => existsSync(join(folder, candidate)))
    if (found === undefined) throw new Error(`${name} has no licence that could be passed on`)
    return `${name}\n\n${readFileSync(join(folder, found), 'utf8').trim()}\n`
  })
  writeFileSync(file, licences.join('\n'))
}
