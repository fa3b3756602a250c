/** Keeps pages in Crawlee's key-value store, which has no HTTP cache. argv: folder; stdin: paths and URLs, by tabs. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Configuration, KeyValueStore } from '@crawlee/basic'

const [folder] = process.argv.slice(2)
const config = new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: false })
const store = await KeyValueStore.open(null, { config })
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [path, url] = line.split('\t')
  const key = createHash('sha256').update(url).digest('hex')
  await store.setValue(key, readFileSync(path), { contentType: 'text/html; charset=utf-8' })
}
