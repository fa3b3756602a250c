/** Where the bytes of an export go: a file that can be cut back to a mark, or a stream that cannot. */

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'

export interface ByteSink {
  /** Appends. After a rejection a file stands where it stood before; of a stream nothing is known. */
  write(bytes: Uint8Array): Promise<void>
  /** How much was written, and what its end looks like: tells this file from another of the same length. */
  mark(): SinkMark
  sync(): Promise<void>
  close(): Promise<void>
}

export interface SinkMark {
  readonly bytes: number
  /** Of the last `TAIL_BYTES` before it. */
  readonly digest: string
}

const TAIL_BYTES = 4096

/**
 * Begins `file` anew, or goes on at `mark` and cuts off what comes after. Undefined: what is there is not what was
 * marked. Rejects with the error of the file system.
 */
export async function openFileSink(file: string, mark?: SinkMark): Promise<ByteSink | undefined> {
  const handle = await openHandle(file, mark === undefined ? 'w+' : 'r+')
  if (handle === undefined) return undefined
  try {
    const tail = mark === undefined ? new Uint8Array(0) : await readMarked(handle, mark)
    if (tail === undefined) {
      await handle.close()
      return undefined
    }
    await handle.truncate(mark?.bytes ?? 0)
    return createFileSink(handle, { offset: mark?.bytes ?? 0, tail })
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function openHandle(file: string, flags: 'w+' | 'r+'): Promise<FileHandle | undefined> {
  try {
    return await open(file, flags)
  } catch (error) {
    if (flags === 'r+' && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The bytes before the mark, if they are the marked ones. */
async function readMarked(handle: FileHandle, mark: SinkMark): Promise<Uint8Array | undefined> {
  const { size } = await handle.stat()
  if (size < mark.bytes) return undefined
  const tail = new Uint8Array(Math.min(TAIL_BYTES, mark.bytes))
  const { bytesRead } = await handle.read(tail, 0, tail.length, mark.bytes - tail.length)
  return bytesRead === tail.length && digestOf(tail) === mark.digest ? tail : undefined
}

function createFileSink(handle: FileHandle, start: { offset: number; tail: Uint8Array }): ByteSink {
  let { offset, tail } = start
  let closed = false
  const write = async (bytes: Uint8Array): Promise<void> => {
    try {
      await writeAll(handle, bytes, offset)
    } catch (error) {
      await handle.truncate(offset)
      throw error
    }
    offset += bytes.length
    tail = nextTail(tail, bytes)
  }
  return {
    write,
    mark: () => ({ bytes: offset, digest: digestOf(tail) }),
    sync: () => handle.datasync(),
    close: async () => {
      if (closed) return
      closed = true
      await handle.close()
    },
  }
}

/** The operating system may take a part only. */
async function writeAll(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const result = await handle.write(bytes, written, bytes.length - written, offset + written)
    written += result.bytesWritten
  }
}

/** Resolves when the chunk is passed on, so that a slow reader slows the crawl and fills no memory. */
export type WriteOutput = (chunk: Uint8Array) => Promise<void>

export function createOutputSink(write: WriteOutput): ByteSink {
  let offset = 0
  let tail: Uint8Array = new Uint8Array(0)
  return {
    write: async (bytes) => {
      await write(bytes)
      offset += bytes.length
      tail = nextTail(tail, bytes)
    },
    mark: () => ({ bytes: offset, digest: digestOf(tail) }),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

function nextTail(tail: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (bytes.length >= TAIL_BYTES) return Uint8Array.from(bytes.subarray(-TAIL_BYTES))
  return Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES)
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
}
