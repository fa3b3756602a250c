// Packs the package, installs the tarball in a fresh folder as a user would, and runs and type-checks what is published.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const root = dirname(import.meta.dirname)
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
const folder = mkdtempSync(join(tmpdir(), 'spoor-package-'))
const run = promisify(execFile)
const sh = async (command, args, cwd = folder) => {
  try {
    return (await run(command, args, { cwd, timeout: 240_000, maxBuffer: 1 << 26 })).stdout
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout ?? ''}${error.stderr ?? ''}`, { cause: error })
  }
}

function expectThat(condition, message) {
  if (!condition) throw new Error(message)
}

const LIBRARY = `
import { Crawler } from 'spoor'
import { createFakeClock, openTestSite, treeSite } from 'spoor/testing'
import type { FakeClock } from 'spoor/testing'

const clock: FakeClock = createFakeClock()
const shape = treeSite(20, 4)
const site = await openTestSite(shape.handler)
const titles: string[] = []
const crawler = new Crawler({
  dir: 'library-data',
  requestHandler: async ({ request, $, enqueueLinks, pushData }) => {
    titles.push($('title').text())
    await pushData({ url: request.url })
    await enqueueLinks()
  },
})
await crawler.run([site.url(shape.seed)])
await site.close()
if (titles.length !== 20 || clock.waiting !== 0) throw new Error(\`expected 20 pages, found \${titles.length}\`)
`

const STORES = `
import { Crawler, isCrawlError } from 'spoor'
import type { CacheStore, Store } from 'spoor'
import { openMongodbCache, openMongodbStore } from 'spoor/mongodb'
import { openPostgresCache, openPostgresStore } from 'spoor/postgres'
import { openRedisCache, openRedisStore } from 'spoor/redis'

const url = { postgres: 'postgres://127.0.0.1:1/x', mongodb: 'mongodb://127.0.0.1:1/x', redis: 'redis://127.0.0.1:1' }
const openers: readonly [string, () => Promise<Store | CacheStore>][] = [
  ['pg', () => openPostgresStore({ url: url.postgres, owner: 'me' })],
  ['pg', () => openPostgresCache({ url: url.postgres, maxBytes: 1e9 })],
  ['mongodb', () => openMongodbStore({ url: url.mongodb, readOnly: true })],
  ['mongodb', () => openMongodbCache({ url: url.mongodb })],
  ['ioredis', () => openRedisStore({ url: url.redis, onWarning: (sentence: string) => console.error(sentence) })],
  ['ioredis', () => openRedisCache({ url: url.redis })],
]
for (const [name, open] of openers) {
  const error: unknown = await open().then(() => undefined, (reason: unknown) => reason)
  if (!isCrawlError(error, 'PEER_MISSING') || !error.message.includes(\`npm install \${name}\`))
    throw new Error(\`expected to be told of npm install \${name}, found \${String(error)}\`)
}
export const crawlOver = (store: Store, cacheStore: CacheStore): Crawler => new Crawler({ store, cacheStore })
`

// people who render have playwright-core, whose types these are
const BROWSER = `
import { Crawler, isCrawlError } from 'spoor'
import { browserPage, savePdf, saveScreenshot } from 'spoor/browser'
import type { SavedFile } from 'spoor/browser'

let found: unknown
try {
  browserPage({ live: undefined })
} catch (error) {
  found = error
}
if (!isCrawlError(found, 'BROWSER_UNAVAILABLE')) throw new Error(\`expected BROWSER_UNAVAILABLE, found \${String(found)}\`)
export const crawler = (): Crawler =>
  new Crawler({
    render: 'on',
    requestHandler: async (context) => {
      await browserPage(context).waitForSelector('.item')
      const files: SavedFile[] = [await saveScreenshot(context), await savePdf(context)]
      await context.pushData({ files: files.map(({ file }) => file) })
    },
  })
`

/** The types are read by the two ways in use; the emitted file runs. */
async function checkTypes() {
  writeFileSync(join(folder, 'library.mts'), LIBRARY)
  writeFileSync(join(folder, 'stores.mts'), STORES)
  writeFileSync(join(folder, 'browser.mts'), BROWSER)
  const common = { strict: true, target: 'es2023', lib: ['es2023', 'esnext.disposable'], types: ['node'] }
  const settings = {
    nodenext: { module: 'nodenext', outDir: 'out' },
    bundler: { module: 'esnext', moduleResolution: 'bundler', noEmit: true },
  }
  for (const [name, options] of Object.entries(settings)) {
    const plain = { ...common, ...options }
    // playwright's types name those of the DOM; ours do without
    const withDom = { ...plain, lib: [...common.lib, 'dom', 'dom.iterable'] }
    const configs = [
      { compilerOptions: plain, files: ['library.mts', 'stores.mts'] },
      { compilerOptions: withDom, files: ['browser.mts'] },
    ]
    for (const [index, config] of configs.entries()) {
      const file = `tsconfig.${name}.${index}.json`
      writeFileSync(join(folder, file), JSON.stringify(config))
      await sh('npx', ['--no-install', 'tsc', '-p', file])
    }
    console.log(`types hold under ${name}`)
  }
  await sh(process.execPath, ['out/library.mjs'])
  console.log('the library crawls')
  await sh(process.execPath, ['out/stores.mjs'])
  console.log('shared stores name the driver that is missing')
  await sh(process.execPath, ['out/browser.mjs'])
  console.log('spoor/browser says what it lacks')
}

async function checkCommand() {
  const said = await sh('npx', ['--no-install', 'spoor', '--version'])
  expectThat(said.includes(version), `expected version ${version}, found ${said}`)
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    response.statusCode = request.url === '/robots.txt' ? 404 : 200
    response.end(`<title>${request.url}</title><a href="/a">a</a><a href="/b">b</a>`)
  }).listen(0, '127.0.0.1')
  const origin = await new Promise((resolve) => {
    server.once('listening', () => resolve(`http://127.0.0.1:${server.address().port}/`))
  })
  const args = ['--no-install', 'spoor', 'crawl', origin, '--dir', 'data', '-o', 'out.jsonl', '--json']
  const summary = JSON.parse(await sh('npx', args))
  server.close()
  server.closeAllConnections()
  const lines = readFileSync(join(folder, 'out.jsonl'), 'utf8').trimEnd().split('\n')
  expectThat(
    summary.pages === 3 && lines.length === 3,
    `expected 3 pages, found ${summary.pages} and ${lines.length} lines`,
  )
  console.log(`spoor ${version} crawls`)
}

/** As a newcomer has it: the project that `spoor init` writes, over this package. */
async function checkStarter(tarball) {
  const starter = join(folder, 'starter')
  await sh('npx', ['--no-install', 'spoor', 'init', 'starter', '--package', `file:${tarball}`])
  await sh('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], starter)
  await sh('npm', ['test'], starter)
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<title>one</title>')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const said = await sh('npm', ['start', '--silent', '--', `http://127.0.0.1:${server.address().port}/`], starter)
  server.close()
  server.closeAllConnections()
  expectThat(said.includes('1 pages, 0 failed'), `expected the starter to crawl one page, found ${said}`)
  await sh('npm', ['run', '--silent', 'export'], starter)
  const items = readFileSync(join(starter, 'items.jsonl'), 'utf8')
  expectThat(items.includes('"title":"one"'), `expected the item of the page, found ${items}`)
  await sh(join(folder, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json'], starter)
  console.log('the starter runs, exports, and passes its test')
}

try {
  const [packed] = JSON.parse(await sh('npm', ['pack', '--json', '--silent', '--pack-destination', folder], root))
  const names = packed.files.map(({ path }) => path)
  for (const name of ['dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js', 'README.md', 'CHANGELOG.md', 'LICENSE']) {
    expectThat(names.includes(name), `the tarball lacks ${name}`)
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies
  const tools = ['typescript', '@types/node', 'playwright-core'].map((name) => `${name}@${own[name]}`)
  // no install script may be needed
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts']
  await sh('npm', ['install', ...quiet, join(folder, packed.filename), ...tools])
  console.log(`installed ${packed.filename}, ${names.length} files, ${packed.size} bytes`)
  await checkCommand()
  await checkTypes()
  await checkStarter(join(folder, packed.filename))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
