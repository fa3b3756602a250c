/** One of several processes that scuffle over a download cache on a server; tells URL and body of what is left of its pages. */

import { once } from 'node:events'
import { cacheKeyOf } from '../../src/cache/key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { seededRandom } from '../../src/util/random.ts'
import { scuffle } from './cache-scuffle.ts'
import { openServerCache } from './open-server-cache.ts'

const [url = '', seed = '0', ...indexes] = process.argv.slice(2)
const store = await openServerCache(url, { clock: systemClock })
const subject = {
  store,
  keyOf: (page: string) => cacheKeyOf({ url: page }),
  nowMs: () => systemClock.nowMs(),
  advance: () => Promise.reject(new Error('time is the real one')),
  dispose: () => store.close(),
}
process.stdout.write('up\n')
await once(process.stdin.resume(), 'end')
const last = new Map<string, string | undefined>()
await Promise.all(
  indexes.map((index) =>
    scuffle(subject, { index: Number(index), random: seededRandom(Number(seed) + Number(index)), last }),
  ),
)
await store.close()
for (const [page, name] of last) if (name !== undefined) process.stdout.write(`${page} ${name}\n`)
