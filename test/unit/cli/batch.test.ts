import { EventEmitter, once } from 'node:events'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linesOf, runBatch } from '../../../src/cli/batch.ts'
import { hostOf, jsonLines, runCommand } from './run-command.ts'

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const collect = async (lines: AsyncIterable<Uint8Array | undefined>): Promise<(string | undefined)[]> => {
  const found = []
  for await (const line of lines) found.push(line === undefined ? undefined : Buffer.from(line).toString())
  return found
}

describe('lines', () => {
  test('they come out whole wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''))),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        async (texts, sizes) => {
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
          expect(await collect(linesOf(chunksOf(bytes, sizes)))).toEqual(texts)
        },
      ),
    )
  })

  test('one without an end counts, and one that is too long is passed over', async () => {
    const bytes = Buffer.from(`ab\n${'x'.repeat(100)}\ncd`)
    expect(await collect(linesOf(chunksOf(bytes, [7]), 10))).toEqual(['ab', undefined, 'cd'])
  })
})

describe('answers', () => {
  test('they keep the order of the questions although later ones are ready first', async () => {
    const { host } = hostOf([], { stdin: [0, 1, 2, 3, 4].map((n) => `{"n":${n}}\n`).join('') })
    const answers: unknown[] = []
    const signals = new EventEmitter()
    const output = { jsonLine: async (value: unknown) => void answers.push(value) }
    await runBatch({ host, output, parallel: 5 }, async ({ n }) => {
      const index = Number(n)
      const done = index === 4 ? undefined : once(signals, `${index + 1}`)
      await done
      signals.emit(`${index}`)
      return index
    })
    expect(answers).toEqual([0, 1, 2, 3, 4])
  })

  test('a line that is no JSON object is an error of its own', async () => {
    const stdin =
      '\uFEFF{"url":"http://a.test/%7e"}\n\n  \nnonsense\n[1]\n{"url":7}\n{}\nnull\n{"url":"http://b.test/"}'
    const { code, stdout } = await runCommand(['canon', '--batch'], { stdin })
    expect(code).toBe(0)
    const answers = jsonLines(stdout)
    expect(answers).toHaveLength(7)
    expect(answers[0]).toMatchObject({ canonical: 'http://a.test/~', host: 'a.test' })
    for (const answer of answers.slice(1, 6))
      expect(answer).toMatchObject({ error: expect.stringMatching(/.{5}/) as string })
    expect(answers[6]).toMatchObject({ canonical: 'http://b.test/' })
  })

  test('no bytes on stdin end any of the commands', async () => {
    const stdin = Buffer.concat([
      Buffer.from([0xff, 0xfe, 0, 10, 0x7b, 10]),
      Buffer.from('{"__proto__":1}\n'),
      Buffer.alloc(70_000, 0x5b),
    ])
    for (const command of ['canon', 'links', 'robots']) {
      const { code, stdout } = await runCommand([command, '--batch'], { stdin })
      expect(code).toBe(0)
      for (const answer of jsonLines(stdout)) expect(answer).toHaveProperty('error')
      expect(jsonLines(stdout)).toHaveLength(4)
    }
  })

  test('links answers for text and for bytes in the encoding of the header', async () => {
    const stdin = [
      { html: '<title>t</title><a href=x>a</a>', url: 'http://a.test/d/' },
      {
        bodyBase64: Buffer.from([0x3c, 0x61, 0x20, 0x68, 0x72, 0x65, 0x66, 0x3d, 0x2f, 0xe4, 0x3e]).toString('base64'),
        url: 'http://a.test/',
        contentType: 'text/html; charset=windows-1252',
      },
      { html: 'x', url: 'relative' },
      { bodyBase64: '!!', url: 'http://a.test/' },
    ]
    const { stdout } = await runCommand(['links', '--batch'], {
      stdin: stdin.map((row) => JSON.stringify(row)).join('\n'),
    })
    const answers = jsonLines(stdout)
    expect(answers[0]).toMatchObject({
      base: 'http://a.test/d/',
      title: 't',
      links: [{ url: 'http://a.test/d/x', tag: 'a', text: 'a', nofollow: false }],
    })
    expect(answers[1]).toMatchObject({ links: [{ url: 'http://a.test/%C3%A4' }] })
    expect(answers[2]).toHaveProperty('error')
    expect(answers[3]).toHaveProperty('error')
  })

  test('robots answers for text and for bytes', async () => {
    const robots = 'User-agent: *\nDisallow: /x'
    const stdin = [
      { robots, url: 'http://a.test/x', agent: 'bot' },
      { robotsBase64: Buffer.from(robots).toString('base64'), url: 'http://a.test/y' },
      { url: 'http://a.test/y' },
    ]
    const { stdout } = await runCommand(['robots', '--batch'], {
      stdin: stdin.map((row) => JSON.stringify(row)).join('\n'),
    })
    expect(jsonLines(stdout)).toMatchObject([
      { allowed: false, line: 2 },
      { allowed: true },
      { error: expect.any(String) as string },
    ])
  })
})
