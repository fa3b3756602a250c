/** The lists inside a zip archive, one after the other. */

import type * as Yauzl from 'yauzl'
import type { Entry, ZipFile } from 'yauzl'
import type { Bytes } from '../util/byte-stream.ts'
import { loadLate } from '../util/load-late.ts'

const yauzl = loadLate<typeof Yauzl>('yauzl')

export interface ZipEntry {
  /** For people: archive and file. */
  readonly entry: string
  /** As it lies in the archive. */
  readonly packedBytes?: number
  readonly bytes: Bytes
}

const MAX_ENTRIES = 10_000
const LIST_ENDING = /\.(?:txt|csv|tsv|jsonl|ndjson|json|lst|list|urls|gz)$/i

export function isZip(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5) && head[3] === (head[2] ?? 0) + 1
}

/** Rejects with yauzl's error for what is damaged. */
export async function* openZipFile(path: string): AsyncGenerator<ZipEntry> {
  yield* readZip(await yauzl().openPromise(path, { lazyEntries: true, autoClose: false }), path)
}

export async function* openZipBuffer(bytes: Buffer, name: string): AsyncGenerator<ZipEntry> {
  yield* readZip(await yauzl().fromBufferPromise(bytes, { lazyEntries: true }), name)
}

async function* readZip(zip: ZipFile, name: string): AsyncGenerator<ZipEntry> {
  try {
    for (const entry of await listsOf(zip)) {
      if (entry.isEncrypted()) throw new Error(`its file ${entry.fileName} is locked with a password`)
      const bytes = await zip.openReadStreamPromise(entry)
      yield { entry: `${name}/${entry.fileName}`, packedBytes: entry.compressedSize, bytes }
    }
  } finally {
    zip.close()
  }
}

/** Files that are named like lists; without any, all files. */
async function listsOf(zip: ZipFile): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName === '[Content_Types].xml') throw new Error('it is an office document: save it as CSV')
    if (entries.length >= MAX_ENTRIES) throw new Error(`it holds more than ${String(MAX_ENTRIES)} files`)
    if (isFile(entry.fileName)) entries.push(entry)
  }
  const lists = entries.filter(({ fileName }) => LIST_ENDING.test(fileName))
  return lists.length > 0 ? lists : entries
}

function isFile(name: string): boolean {
  return !name.endsWith('/') && !name.startsWith('__MACOSX/') && !/(?:^|\/)\./.test(name)
}
