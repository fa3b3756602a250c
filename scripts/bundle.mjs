// Bundles src/ for Node: a start then opens a few files instead of two hundred. What is loaded late stays in files of its own.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { build } from 'esbuild'

/** Started by name from within, beside what package.json names. */
const STARTED = ['stores/sqlite/served/thread', 'cluster/process-main']
const MARK = '__placeOf'

/** `to` gets the JavaScript of every entry where package.json says it is (there it is called dist), and the parts they share. */
export async function bundlePackage(root, to) {
  const source = join(root, 'src')
  const { outputFiles } = await build({
    entryPoints: [...publicEntries(root), ...STARTED].map((name) => join(source, `${name}.ts`)),
    outbase: source,
    outdir: to,
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    plugins: [ownPlaces(source), broughtAlong],
    write: false,
    logLevel: 'warning',
  })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, path.endsWith('.js') ? withRequire(withPlaces(text, relative(to, dirname(path)))) : text)
  }
}

/** Names below dist/ and src/, without ending. */
function publicEntries(root) {
  const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const files = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)]
  return files.filter((file) => file !== undefined).map((file) => file.replace(/^\.\/dist\//, '').replace(/\.js$/, ''))
}

/** A module that looks for a file beside itself must find it wherever its code ends up: its URL becomes a mark, */
function ownPlaces(source) {
  return {
    name: 'own-places',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        if (!text.includes('import.meta.url')) return undefined
        const place = relative(source, path).split(sep).join('/').replace(/\.ts$/, '.js')
        return { contents: text.replaceAll('import.meta.url', `${MARK}('${place}')`), loader: 'ts' }
      })
    },
  }
}

/** and the mark the URL of where the module would be, seen from the file that holds it now. */
function withPlaces(text, folder) {
  return text.replaceAll(new RegExp(`${MARK}\\("([^"]+)"\\)`, 'g'), (_, place) => {
    const from = relative(folder, place).split(sep).join('/')
    return `new URL(${JSON.stringify(from.startsWith('.') ? from : `./${from}`)}, import.meta.url).href`
  })
}

/** Small packages that few need come with the part that uses them, not with every installation. */
const BROUGHT_ALONG =
  /^(?:prom-client|tdigest|bintrees|@opentelemetry\/api|graphology(?:-layout-forceatlas2|-utils\/.+)?)$/
const broughtAlong = {
  name: 'brought-along',
  setup: ({ onResolve }) => {
    onResolve({ filter: BROUGHT_ALONG }, ({ path, importer }) => {
      // whoever traces has the API of OpenTelemetry; only the metrics client's own is brought along
      if (path.startsWith('@') && !importer.includes('prom-client')) return undefined
      return { path: createRequire(importer).resolve(path) }
    })
  },
}

/** What was brought along is CommonJS, and requires parts of Node: by this function of esbuild's, where it finds a `require`. */
function withRequire(text) {
  if (!text.includes('var __require =')) return text
  return `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${text}`
}
