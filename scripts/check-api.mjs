// Compares the shape of the public API with docs/api.md, where it is recorded; `--write` records it anew.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import { format, resolveConfig } from 'prettier'
import { buildIfStale } from './prepare.mjs'

const root = dirname(import.meta.dirname)
const record = join(root, 'docs/api.md')
const HEAD = `# The shape of the public API

Every name that the package exports, with its type. \`npm run check:api\` compares this page with the
declarations that were built; \`npm run check:api -- --write\` writes it anew. What disappears from it, or is asked for that was not, breaks
programs of other people: that is a major version.
`

const QUIET = { default: { logLevel: 'none' } }

/** The declarations of one entry, as api-extractor lays them out. */
function shapeOf(declarations, folder) {
  const entry = join(root, declarations)
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
  }
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      newlineKind: 'lf',
      mainEntryPointFilePath: entry,
      compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
      apiReport: {
        enabled: true,
        reportFileName: 'shape.api.md',
        reportFolder: folder,
        reportTempFolder: join(folder, 'temp'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: { extractorMessageReporting: QUIET, tsdocMessageReporting: QUIET, compilerMessageReporting: QUIET },
    },
  })
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      // the report is made in a folder of its own, so that it is always new
      message.handled = message.logLevel !== 'error'
    },
  })
  if (!succeeded) throw new Error(`${declarations}: api-extractor cannot read it`)
  const report = readFileSync(join(folder, 'shape.api.md'), 'utf8')
  return /```ts\n([^]*)```/
    .exec(report)[1]
    .replaceAll(/^ *\/\/ \(undocumented\)\n/gm, '')
    .trim()
}

buildIfStale()
const folder = mkdtempSync(join(tmpdir(), 'spoor-api-'))
try {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const sections = Object.entries(exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([name, { types }]) => `\n## spoor${name.slice(1)}\n\n\`\`\`ts\n${shapeOf(types, folder)}\n\`\`\`\n`)
  const settings = { ...(await resolveConfig(record)), parser: 'markdown' }
  const found = await format(HEAD + sections.join(''), settings)
  if (process.argv.includes('--write')) writeFileSync(record, found)
  const expected = readFileSync(record, 'utf8')
  if (found !== expected) {
    const known = new Set(expected.split('\n'))
    const news = found.split('\n').filter((line) => !known.has(line))
    const now = new Set(found.split('\n'))
    const gone = expected.split('\n').filter((line) => !now.has(line))
    for (const line of gone.slice(0, 40)) console.error(`- ${line}`)
    for (const line of news.slice(0, 40)) console.error(`+ ${line}`)
    console.error('docs/api.md is not the API that was built: if this is meant, npm run check:api -- --write')
    process.exitCode = 1
  } else console.log(`${sections.length} entries are as docs/api.md has them`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
