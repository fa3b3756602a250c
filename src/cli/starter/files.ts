/** The files of a starter project. */

const CRAWLER = `import { Crawler } from 'spoor'

/** Follows every link of the site and keeps one item a page. */
export const crawler = new Crawler({
  maxCrawlDepth: 2,
  async requestHandler({ request, page, $, enqueueLinks, pushData }) {
    await pushData({ url: request.loadedUrl, title: page.title, headings: $('h1, h2').length })
    await enqueueLinks()
  },
  async failedRequestHandler({ request, error }) {
    console.error(\`\${request.url}: \${error.message}\`)
  },
})
`

const MAIN = `import { crawler } from './crawler.ts'

const seeds = process.argv.slice(2)
if (seeds.length === 0) {
  console.error('Give the URLs to start from: npm start -- https://example.com/')
  process.exit(2)
}
// the same command again goes on where it stopped: what is known and done is in spoor-data
const summary = await crawler.run(seeds)
console.log(\`\${summary.pages} pages, \${summary.failed} failed; npm run export writes the items to items.jsonl\`)
`

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replay } from 'spoor/testing'
import { crawler } from './crawler.ts'

// pages in the code, or a folder of real ones: replay(crawler, { pages: 'pages', seeds, record: true }) fills it
const pages = {
  'https://example.com/': '<title>Home</title><h1>Hello</h1><a href="/a">a</a><a href="/a">again</a>',
  'https://example.com/a': '<title>A</title><h1>One</h1><h2>Two</h2>',
}

test('a page and what it links to are crawled once each', async () => {
  const { items, failures } = await replay(crawler, { pages, seeds: 'https://example.com/' })
  assert.deepEqual(items, [
    { url: 'https://example.com/', title: 'Home', headings: 1 },
    { url: 'https://example.com/a', title: 'A', headings: 2 },
  ])
  assert.deepEqual(failures, [])
})
`

const README = `# A crawler

    npm install
    npm start -- https://example.com/

Stop it whenever you like, also with kill -9: the same command goes on, without losing a page or fetching one twice.

    npx spoor status                                     where it stands
    npx spoor failures                                   what failed, with every attempt
    npx spoor why https://example.com/x                  why a page was or was not fetched
    npm run export                                       the items, in items.jsonl
    npm test                                             on pages in crawler.test.ts, without the network

\`crawler.ts\` says what is done with a page; \`main.ts\` starts it.
`

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true
  },
  "include": ["*.ts"]
}
`

export interface StarterOptions {
  /** Of the project. */
  readonly name: string
  /** What it depends on: a range of versions, or the path of a package. */
  readonly spoor: string
}

function packageJson({ name, spoor }: StarterOptions): string {
  const content = {
    name,
    version: '0.0.1',
    private: true,
    type: 'module',
    scripts: {
      start: 'jiti main.ts',
      test: 'jiti crawler.test.ts',
      export: 'spoor export -o items.jsonl',
    },
    dependencies: { jiti: '^2.7.0', spoor },
    devDependencies: { '@types/node': '^20.19.0' },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

/** By name. */
export function starterFiles(options: StarterOptions): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', packageJson(options)],
    ['crawler.ts', CRAWLER],
    ['main.ts', MAIN],
    ['crawler.test.ts', TEST],
    ['tsconfig.json', TSCONFIG],
    ['README.md', README],
    ['.gitignore', 'node_modules/\nspoor-data/\nitems.jsonl\n'],
  ])
}
