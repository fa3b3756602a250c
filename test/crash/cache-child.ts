/** A process that fills a cache and a WARC, and says after each page that it is kept; it is killed in the middle of it. */

import { join } from 'node:path'
import { cacheKeyOf } from '../../src/cache/key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openFilesCache } from '../../src/stores/files-cache/store.ts'
import { openSqliteCache } from '../../src/stores/sqlite-cache/store.ts'
import { openWarcWriter } from '../../src/stores/warc/writer.ts'
import { cachePage } from './cache-pages.ts'

const [, , kind = '', dir = '', from = '0'] = process.argv
const store = kind === 'sqlite' ? await openSqliteCache({ dir }) : await openFilesCache({ dir })
const warc = await openWarcWriter({ path: join(`${dir}-warc`, 'w.warc.gz'), clock: systemClock })
let next = Number(from)
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (;;) {
      const { url, body } = cachePage(next++)
      const nowMs = Date.now()
      const entry = { method: 'GET', status: 200, headers: [], fetchedAtMs: nowMs, checkedAtMs: nowMs, wireBytes: 1 }
      await store.put({ ...entry, key: cacheKeyOf({ url }), url }, body)
      await warc.write({ ...entry, url, dateMs: nowMs, requestHeaders: {}, body })
      process.stdout.write(`${url}\n`)
    }
  }),
)
