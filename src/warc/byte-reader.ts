/** Lines and counted bytes out of a stream of chunks. */

export interface ByteReader {
  /** Up to the next line end, without it and without a carriage return, as UTF-8; a longer one is cut. Undefined: the end. */
  line(maxBytes: number): Promise<string | undefined>
  /** So many bytes, or all that come. */
  take(bytes: number): Promise<Uint8Array>
  /** Passes over so many; answers how many came. */
  skip(bytes: number): Promise<number>
  /** Bytes that were read. */
  offset(): number
}

export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const chunks = source[Symbol.asyncIterator]()
  let chunk: Buffer = Buffer.alloc(0)
  let at = 0
  let offset = 0

  /** False at the end. */
  const fill = async (): Promise<boolean> => {
    while (at >= chunk.length) {
      const next = await chunks.next()
      if (next.done === true) return false
      chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
      at = 0
    }
    return true
  }
  const advance = (bytes: number): Buffer => {
    const piece = chunk.subarray(at, at + bytes)
    at += piece.length
    offset += piece.length
    return piece
  }
  const each = async (bytes: number, use: (piece: Buffer) => void): Promise<number> => {
    let left = bytes
    while (left > 0 && (await fill())) {
      const piece = advance(left)
      left -= piece.length
      use(piece)
    }
    return bytes - left
  }

  return {
    line: async (maxBytes) => {
      const pieces: Buffer[] = []
      let kept = 0
      while (await fill()) {
        const end = chunk.indexOf(10, at)
        const piece = advance(end === -1 ? chunk.length - at : end + 1 - at)
        const wanted = piece.subarray(0, Math.max(0, maxBytes - kept))
        kept += wanted.length
        if (wanted.length > 0) pieces.push(wanted)
        if (end !== -1) return textOf(pieces)
      }
      return pieces.length === 0 ? undefined : textOf(pieces)
    },
    take: async (bytes) => {
      const pieces: Buffer[] = []
      await each(bytes, (piece) => pieces.push(piece))
      return Buffer.concat(pieces)
    },
    skip: (bytes) => each(bytes, () => undefined),
    offset: () => offset,
  }
}

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '')
    .replace(/\r$/, '')
}
