/** Payloads that were written already, so that the same one is not written twice. */

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseIndexLine } from '../../warc/cdxj.ts'
import type { EarlierCapture } from '../../warc/format.ts'

export interface Captures {
  find(payloadDigest: string): EarlierCapture | undefined
  add(payloadDigest: string, capture: EarlierCapture): void
  /** Takes over what an index tells; a missing one tells nothing. */
  load(indexFile: string): Promise<void>
}

/** About 20 MB. Beyond it the oldest are forgotten: their payloads are then written once more. */
const MAX_CAPTURES = 100_000

export function createCaptures(): Captures {
  const byDigest = new Map<string, EarlierCapture>()
  const add = (digest: string, capture: EarlierCapture): void => {
    if (byDigest.has(digest)) return
    byDigest.set(digest, capture)
    if (byDigest.size > MAX_CAPTURES) {
      const [oldest] = byDigest.keys()
      if (oldest !== undefined) byDigest.delete(oldest)
    }
  }
  return {
    find: (digest) => byDigest.get(digest),
    add,
    load: async (indexFile) => {
      for await (const text of linesOf(indexFile)) {
        const line = parseIndexLine(text)
        if (line === undefined || line.status !== 200 || line.mime === 'warc/revisit') continue
        add(line.digest, { url: line.url, dateMs: line.dateMs })
      }
    },
  }
}

/** Lines of a file; none when it is not there. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const input = createReadStream(file)
  try {
    yield* createInterface({ input, crlfDelay: Infinity })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  } finally {
    input.destroy()
  }
}
