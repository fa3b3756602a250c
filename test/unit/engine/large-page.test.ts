import { describe, expect, it } from 'vitest'
import type { StoredRequest } from '../../../src/core/request.ts'
import { createDoor } from '../../../src/engine/enqueue.ts'
import { createPageBuffer, enqueuePageLinks, type PageBuffer } from '../../../src/engine/page-buffer.ts'
import { openPage } from '../../../src/engine/page.ts'
import type { FetchResponse } from '../../../src/fetch/contract.ts'
import { createScope } from '../../../src/url/scope.ts'

const URL = 'http://site.test/'

function answerOf(html: string, contentType = 'text/html'): FetchResponse {
  const body = Buffer.from(html)
  return {
    kind: 'response',
    url: URL,
    status: 200,
    headers: [['content-type', contentType]],
    body,
    wireBytes: body.length,
    truncated: false,
    timings: { headMs: 0, totalMs: 0 },
  }
}

async function found(html: string, pageNofollow = false): Promise<PageBuffer> {
  const settings = {
    name: 't',
    order: 'bfs' as const,
    delayMs: 0,
    loopbackDelayMs: 0,
    maxInFlightPerHost: 1,
    identity: 'whatwg',
  }
  const scope = createScope({ kind: 'host' })
  scope.addSeed(URL)
  const door = createDoor({ settings, scope, maxUrlBytes: 8192, obeyNofollow: true, random: () => 0.5 })
  const buffer = createPageBuffer()
  const page = await openPage(answerOf(html), { agent: 'spoor', maxUrlBytes: 8192 })
  await enqueuePageLinks({ door, buffer, depth: 1, keepKnownLinks: false }, page, pageNofollow)
  return buffer
}

const urlsOf = (requests: readonly StoredRequest[]): readonly string[] => requests.map(({ url }) => url)
const anchors = (count: number, rel = ''): string =>
  Array.from({ length: count }, (_, index) => `<a ${rel} href=/p${index}>x</a>`).join('\n')

describe('a page of thousands of links', () => {
  it('gives every one of them, in order', async () => {
    const { discovered } = await found(anchors(60_000))
    expect(discovered).toHaveLength(60_000)
    expect(urlsOf(discovered.slice(0, 2))).toEqual([`${URL}p0`, `${URL}p1`])
    expect(discovered.at(-1)?.url).toBe(`${URL}p59999`)
  })

  it('follows what is there with and without nofollow, and records the rest as nofollow', async () => {
    const { discovered } = await found(anchors(3000, 'rel=nofollow') + anchors(2500))
    expect(discovered.filter(({ skip }) => skip === undefined)).toHaveLength(2500)
    expect(discovered.filter(({ skip }) => skip === 'nofollow')).toHaveLength(500)
  })
})

describe('opening a page', () => {
  it('needs no turn for a small one and none for what is no page', () => {
    expect(openPage(answerOf('<p>x'), { agent: 'spoor', maxUrlBytes: 8192 })).not.toBeInstanceOf(Promise)
    const text = openPage(answerOf('x'.repeat(1_000_000), 'text/plain'), { agent: 'spoor', maxUrlBytes: 8192 })
    expect(text).not.toBeInstanceOf(Promise)
  })

  it('reads a large one in turns', async () => {
    const opening = openPage(answerOf(`<title>t</title>${anchors(20_000)}`), { agent: 'spoor', maxUrlBytes: 8192 })
    expect(opening).toBeInstanceOf(Promise)
    expect((await opening).scan.linkCount).toBe(20_000)
  })
})
