/** Collects the chunks of a body: large ones as they come, floods of tiny ones packed, so that memory follows the bytes. */

const EMPTY = Buffer.alloc(0)
/** A chunk costs some 100 bytes beside its own: a body sent byte by byte would weigh a hundred times its size. */
const LOOSE_CHUNKS = 256

export interface BodyCollector {
  add(chunk: Buffer): void
  /** All of it, without a copy when it came in one chunk. The collector is empty then. */
  take(): Buffer
  drop(): void
}

export function createBodyCollector(): BodyCollector {
  let packed: Buffer[] = []
  let loose: Buffer[] = []
  const pack = (): void => {
    packed.push(Buffer.concat(loose))
    loose = []
  }
  const drop = (): void => {
    packed = []
    loose = []
  }
  return {
    drop,
    add: (chunk) => {
      loose.push(chunk)
      if (loose.length >= LOOSE_CHUNKS) pack()
    },
    take: () => {
      const [first = EMPTY] = loose
      const body = packed.length === 0 && loose.length <= 1 ? first : Buffer.concat([...packed, ...loose])
      drop()
      return body
    },
  }
}
