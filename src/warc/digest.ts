/** Digests as WARC files have them: SHA-1 in Base32. */

import { createHash } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648, upper case; without padding, of which SHA-1 needs none. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >>> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + ALPHABET[(value << (5 - bits)) & 31]
}

/** `sha1:` and 32 characters, over the parts in a row. */
export function sha1Digest(...parts: readonly Uint8Array[]): string {
  const digest = createHash('sha1')
  for (const part of parts) digest.update(part)
  return `sha1:${base32(digest.digest())}`
}
