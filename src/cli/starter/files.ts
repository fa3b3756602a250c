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
import { createServer } from 'node:http'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Crawler } from 'spoor'

test('a page and what it links to are crawled once each', async () => {
  const seen = []
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(request.url === '/' ? '<a href="/a">a</a><a href="/a">again</a>' : '<title>a</title>')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const crawler = new Crawler({
    dir: await mkdtemp(join(tmpdir(), 'crawl-')),
    async requestHandler({ request, enqueueLinks }) {
      seen.push(new URL(request.url).pathname)
      await enqueueLinks()
    },
  })
  try {
    await crawler.run([\`http://127.0.0.1:\${server.address().port}/\`])
    assert.deepEqual(seen, ['/', '/a'])
  } finally {
    server.close()
    server.closeAllConnections()
  }
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
    npm test

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

function packageJson(name: string, version: string): string {
  const content = {
    name,
    version: '0.0.1',
    private: true,
    type: 'module',
    scripts: {
      start: 'jiti main.ts',
      test: 'node --test',
      export: 'spoor export -o items.jsonl',
    },
    dependencies: { jiti: '^2.7.0', spoor: `^${version}` },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

/** By name; the project is called `name`. */
export function starterFiles({
  name,
  version,
}: {
  readonly name: string
  readonly version: string
}): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', packageJson(name, version)],
    ['crawler.ts', CRAWLER],
    ['main.ts', MAIN],
    ['crawler.test.mjs', TEST],
    ['tsconfig.json', TSCONFIG],
    ['README.md', README],
    ['.gitignore', 'node_modules/\nspoor-data/\nitems.jsonl\n'],
  ])
}
