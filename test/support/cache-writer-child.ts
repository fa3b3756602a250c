/** Puts one page after another into a download cache on a server, several at once, and tells the number of each that is kept. */

import { cacheKeyOf } from '../../src/cache/key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { cachePage, WRITES_AT_ONCE } from './server-cache-pages.ts'
import { openServerCache } from './open-server-cache.ts'

const [url = '', nowMs = '0', from = '0', maxBytes = '0'] = process.argv.slice(2)
const clock = { ...systemClock, nowMs: () => Number(nowMs) }
const store = await openServerCache(url, { clock, ...(maxBytes === '0' ? {} : { maxBytes: Number(maxBytes) }) })
let next = Number(from)
await Promise.all(
  Array.from({ length: WRITES_AT_ONCE }, async () => {
    for (;;) {
      const number = next++
      const { entry, body } = cachePage(number, clock.nowMs())
      await store.put({ ...entry, key: cacheKeyOf(entry) }, body)
      process.stdout.write(`${number}\n`)
    }
  }),
)
