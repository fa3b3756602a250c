import zlib from 'node:zlib'

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { decodeBody, parseCodings } from '../../../../src/fetch/http/decode.ts'
import type { Decoded, DecodeInput } from '../../../../src/fetch/http/decoded.ts'

const PACKERS = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
} as const

const decode = async (wire: Buffer, coding: string, more: Partial<DecodeInput> = {}): Promise<Decoded> =>
  await decodeBody({
    wire,
    codings: parseCodings(coding.split(',').map((word) => word.trim())),
    limitBytes: 1_000_000,
    cut: false,
    wireCut: false,
    ...more,
  })

const bodyOf = (decoded: Decoded): Buffer => {
  if (decoded.kind !== 'body') throw new Error(decoded.kind)
  return decoded.body
}

const noise = (length: number): Buffer => {
  let state = 1
  return Buffer.from(Array.from({ length }, () => (state = (state * 48_271) % 2_147_483_647) & 0xff))
}

describe.each(['gzip', 'deflate', 'br'] as const)('%s', (coding) => {
  const pack = PACKERS[coding]

  it('gives back any bytes, small and large', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
        expect(bodyOf(await decode(pack(Buffer.from(bytes)), coding)).equals(Buffer.from(bytes))).toBe(true)
      }),
      { numRuns: 50 },
    )
    const large = noise(200_000)
    expect(bodyOf(await decode(pack(large), coding)).equals(large)).toBe(true)
  })

  it('is read past padding, and told from a body that ends early at any byte', async () => {
    const page = Buffer.concat([noise(300), Buffer.from('<p>text</p>'.repeat(200))])
    const packed = pack(page)
    expect(bodyOf(await decode(Buffer.concat([packed, Buffer.from('\r\n\0junk')]), coding)).equals(page)).toBe(true)
    for (let cut = coding === 'deflate' ? 5 : 1; cut < packed.length - 2; cut += 7) {
      // oxlint-disable-next-line no-await-in-loop -- many small ones
      const decoded = await decode(packed.subarray(0, packed.length - cut), coding)
      expect([cut, decoded.kind]).toEqual([cut, 'incomplete'])
    }
  })

  it('holds the limit to the byte', async () => {
    for (const length of [1000, 3_000_000]) {
      const packed = pack(Buffer.alloc(length, 'x'))
      // oxlint-disable-next-line no-await-in-loop -- two
      expect(bodyOf(await decode(packed, coding, { limitBytes: length })).length).toBe(length)
      // oxlint-disable-next-line no-await-in-loop -- two
      expect((await decode(packed, coding, { limitBytes: length - 1 })).kind).toBe('too-large')
    }
  })

  it('is cut at the limit, and undone as far as the bytes go, when that is asked for', async () => {
    const packed = pack(noise(50_000))
    const cut = await decode(packed, coding, { limitBytes: 100, cut: true })
    expect(cut).toMatchObject({ kind: 'body', truncated: true })
    expect(bodyOf(cut).equals(noise(100))).toBe(true)
    const part = await decode(packed.subarray(0, 30_000), coding, { cut: true, wireCut: true })
    expect(part).toMatchObject({ kind: 'body', truncated: true })
    expect(bodyOf(part).length).toBeGreaterThan(10_000)
  })

  it('never throws and never answers more than the limit, whatever the bytes', async () => {
    const damaged = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 50 }), fc.nat(300))
    await fc.assert(
      fc.asyncProperty(damaged, async ([bytes, junk, at]) => {
        const packed = pack(Buffer.from(bytes))
        const wire = Buffer.concat([packed.subarray(0, at), Buffer.from(junk), packed.subarray(at)])
        const decoded = await decode(wire, coding, { limitBytes: 200 })
        if (decoded.kind === 'body') expect(decoded.body.length).toBeLessThanOrEqual(200)
      }),
      { numRuns: 100 },
    )
  })
})

describe('codings', () => {
  it.each([
    '<title>plain</title><a href="/n">x</a>',
    '{"a":1}',
    'hello',
    'žluťoučký kůň',
    '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
  ])('that %j does not have leave it as it is', async (text) => {
    for (const coding of ['gzip', 'deflate', 'br']) {
      const bytes = text.startsWith('\x89') ? Buffer.from(text, 'latin1') : Buffer.from(text)
      // oxlint-disable-next-line no-await-in-loop -- three
      expect([coding, bodyOf(await decode(bytes, coding)).equals(bytes)]).toEqual([coding, true])
    }
  })

  it('are undone from the last to the first, as many as four', async () => {
    const page = Buffer.from('page')
    expect(bodyOf(await decode(zlib.brotliCompressSync(zlib.gzipSync(page)), 'gzip, br')).equals(page)).toBe(true)
    expect(await decode(page, 'gzip,gzip,gzip,gzip,gzip')).toMatchObject({ kind: 'undecodable' })
  })

  it('hold the limit at each stage', async () => {
    const nested = zlib.gzipSync(zlib.gzipSync(Buffer.alloc(30_000_000)))
    expect((await decode(nested, 'gzip, gzip', { limitBytes: 8_000_000 })).kind).toBe('too-large')
  })

  it('in members all count, and thousands of empty ones end', async () => {
    const members = Buffer.concat(Array.from({ length: 20 }, (_, at) => zlib.gzipSync(`part ${at};`)))
    expect(bodyOf(await decode(members, 'gzip')).toString()).toContain('part 0;part 1;')
    const empty = zlib.gzipSync('')
    expect((await decode(Buffer.concat(Array.from({ length: 12_000 }, () => empty)), 'gzip')).kind).toBe('undecodable')
  })

  it('with gzip header fields are read', async () => {
    const plain = zlib.gzipSync('named')
    const named = Buffer.concat([
      plain.subarray(0, 3),
      Buffer.from([8]),
      plain.subarray(4, 10),
      Buffer.from('file.html\0'),
      plain.subarray(10),
    ])
    expect(bodyOf(await decode(named, 'gzip')).toString()).toBe('named')
  })

  it.each([
    [['none'], []],
    [['utf-8', 'binary', ''], []],
    [
      ['x-gzip', 'br'],
      ['gzip', 'br'],
    ],
    [['compress'], [{ unknown: 'compress' }]],
    [['__proto__', 'constructor'], []],
  ])('named %j are %j', (words, codings) => {
    expect(parseCodings(words)).toEqual(codings)
  })
})
