/** What the tests of the library look at after a crawl. */

import { openForReading } from '../../../src/crawler/commands.ts'
import type { CrawlReader, FailureEntry } from '../../../src/crawler/contract.ts'

async function read<T>(dir: string, task: string, look: (reader: CrawlReader) => Promise<T>): Promise<T> {
  const reader = await openForReading({ dir, store: undefined, task })
  try {
    return await look(reader)
  } finally {
    await reader.close()
  }
}

export function itemsOf(dir: string, task = 'default'): Promise<unknown[]> {
  return read(dir, task, async (reader) => {
    const items: unknown[] = []
    for await (const line of reader.items()) items.push(JSON.parse(line))
    return items
  })
}

export function failuresOf(dir: string, task = 'default'): Promise<FailureEntry[]> {
  return read(dir, task, async (reader) => {
    const failures: FailureEntry[] = []
    for await (const failure of reader.failures({})) failures.push(failure)
    return failures
  })
}

export function reasonOf(dir: string, url: string, task = 'default'): Promise<string | null> {
  return read(dir, task, async (reader) => (await reader.why(url)).reason)
}
