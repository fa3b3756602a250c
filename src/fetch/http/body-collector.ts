/** Collects the chunks of a body: large ones as they come, floods of tiny ones packed, so that memory follows the bytes. */

const EMPTY = Buffer.alloc(0)
/** A chunk costs some 100 bytes beside its own: a body sent byte by byte would weigh a hundred times its size. */
const LOOSE_CHUNKS = 256

/** From here on a body whose length was told is put together in one piece as it comes, and not copied at its end. */
const WHOLE_FROM_BYTES = 256 * 1024

export interface BodyCollector {
  /** The length that the head tells; it may lie. */
  expect(bytes: number): void
  add(chunk: Buffer): void
  /** All of it, without a copy when it came in one chunk. The collector is empty then. */
  take(): Buffer
  drop(): void
}

export function createBodyCollector(): BodyCollector {
  return new Collector()
}

class Collector implements BodyCollector {
  #packed: Buffer[] = []
  #loose: Buffer[] = []
  #length = 0
  #expected = 0
  /** Begins with all that has come. */
  #whole: Buffer | undefined

  expect(bytes: number): void {
    this.#expected = bytes
  }

  add(chunk: Buffer): void {
    const before = this.#length
    this.#length += chunk.length
    if (this.#whole !== undefined && this.#length <= this.#whole.length) {
      chunk.copy(this.#whole, before)
      return
    }
    this.#leaveWhole(before)
    this.#loose.push(chunk)
    if (this.#loose.length >= LOOSE_CHUNKS) this.#pack()
    if (before < WHOLE_FROM_BYTES && this.#length >= WHOLE_FROM_BYTES) this.#makeWhole()
  }

  take(): Buffer {
    const body = this.#join()
    this.drop()
    return body
  }

  drop(): void {
    this.#packed = []
    this.#loose = []
    this.#whole = undefined
    this.#length = 0
  }

  #join(): Buffer {
    if (this.#whole !== undefined) return this.#whole.subarray(0, this.#length)
    const [first = EMPTY] = this.#loose
    if (this.#packed.length === 0 && this.#loose.length <= 1) return first
    return Buffer.concat([...this.#packed, ...this.#loose])
  }

  #pack(): void {
    this.#packed.push(Buffer.concat(this.#loose))
    this.#loose = []
  }

  #makeWhole(): void {
    if (this.#expected < this.#length) return
    // not cleared: a length that lies costs address space only
    const whole = Buffer.allocUnsafeSlow(this.#expected)
    let at = 0
    for (const chunk of [...this.#packed, ...this.#loose]) at += chunk.copy(whole, at)
    this.#packed = []
    this.#loose = []
    this.#whole = whole
  }

  /** More comes than was told. */
  #leaveWhole(length: number): void {
    if (this.#whole === undefined) return
    this.#packed = [this.#whole.subarray(0, length)]
    this.#whole = undefined
  }
}
