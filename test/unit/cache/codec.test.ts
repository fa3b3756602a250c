/** What is packed comes back whole, and never by a codec that this Node lacks. */

import * as zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { checkReadable, digestOf, packBody, requireCodec, unpackBody } from '../../../src/cache/codec.ts'

const body = Buffer.from('<p>much the same again, '.repeat(500))
const hasZstd = 'zstdCompress' in zlib

describe('a codec', () => {
  it.each(['brotli', 'zlib', 'none', ...(hasZstd ? (['zstd'] as const) : [])] as const)(
    'gives back what %s has packed, and nothing that was cut or is longer than it was',
    async (name) => {
      requireCodec(name)
      const packed = await packBody(body, name, 'text/html')
      checkReadable(packed.codec, 'http://a.test/')
      expect(await unpackBody(packed, body.length)).toEqual(body)
      if (name === 'none') return
      expect(packed.data.length).toBeLessThan(body.length / 10)
      expect(await unpackBody({ ...packed, data: packed.data.subarray(1) }, body.length)).toBeUndefined()
      expect(await unpackBody(packed, body.length - 1)).toBeUndefined()
    },
  )

  it.skipIf(hasZstd)('that this Node lacks is refused with those that it has', () => {
    expect(() => {
      requireCodec('zstd')
    }).toThrow(/--cache-codec zstd: expected brotli, zlib or none/)
    expect(() => {
      checkReadable(3, 'http://a.test/')
    }).toThrow(/http:\/\/a\.test\/ is in the cache packed with zstd/)
  })

  it('that not every Node has keeps bodies of its own', () => {
    expect(digestOf(body, 'zstd')).not.toEqual(digestOf(body, 'brotli'))
    expect(digestOf(body, 'zlib')).toEqual(digestOf(body, 'brotli'))
  })
})
