import { describe, expect, it } from 'vitest'

import { createRandomIdentities, identityOf, keepCurrent, openBrowserDraw } from '../../../src/fetch/user-agent.ts'
import { seededRandom } from '../../../src/util/random.ts'

function named(name: string, hinted = /Chrome\/(\d+)/.exec(name)?.[1]): Record<string, string> {
  const hints = hinted === undefined ? {} : { 'sec-ch-ua': `"Chromium";v="${hinted}", "Not.A/Brand";v="8"` }
  return { 'user-agent': `Mozilla/5.0 ${name}`, ...hints }
}

describe('random agents', () => {
  it('are current browsers with headers that match, by share of use', async () => {
    const draw = await openBrowserDraw(seededRandom(1))
    const drawn = Array.from({ length: 300 }, draw)
    const agents = drawn.map((headers) => headers['user-agent'] ?? '')
    expect(agents.every((agent) => agent.startsWith('Mozilla/5.0 ('))).toBe(true)
    expect(agents.filter((agent) => agent.includes('Chrome/')).length).toBeGreaterThan(150)
    expect(new Set(agents).size).toBeGreaterThan(3)
    for (const headers of drawn) {
      expect(Object.keys(headers)).not.toContain('accept-encoding')
      expect(headers['accept']).toContain('text/html')
      expect(headers['accept-language']).toMatch(/^en-US,en/)
      const chromium = /Chrome\/(\d+)/.exec(headers['user-agent'] ?? '')?.[1]
      if (chromium !== undefined) expect(headers['sec-ch-ua']).toContain(`v="${chromium}"`)
      else expect(headers['sec-ch-ua']).toBeUndefined()
    }
  })

  it('stay the same for a session and a host, and tell plain http no client hints', () => {
    let count = 0
    const draw = (): Record<string, string> => ({ 'user-agent': `b${++count}`, 'sec-ch-ua': '"x"', accept: 'y' })
    const identities = createRandomIdentities({ draw, maxHosts: 3 })
    const first = identities.headersFor('s', 'https://a.test/1')
    expect(identities.headersFor('s', 'https://a.test/2')).toEqual(first)
    expect(identities.headersFor('s', 'http://a.test/')).toEqual({ 'user-agent': 'b1', accept: 'y' })
    expect(identities.headersFor('t', 'https://a.test/')).toMatchObject({ 'user-agent': 'b2' })
    for (const host of ['b', 'c', 'd']) identities.headersFor('s', `https://${host}.test/`)
    expect(identities.headersFor('s', 'https://a.test/')).toMatchObject({ 'user-agent': 'b6' })
  })

  it('leave out old versions, those whose client hints tell of another browser, and what belongs to the connection', () => {
    const kept = keepCurrent([
      named('Chrome/146.0', '147'),
      { 'user-agent': 'Mozilla/5.0 Chrome/147.0' },
      named('Firefox/146.0', '146'),
      named('Chrome/999.0', '147'),
      named('Chrome/147.0'),
      named('Chrome/96.0'),
      named('Version/26.1 Safari/605'),
      named('Version/18.5 Safari/605'),
      named('Chrome/147.0 Edg/147.0'),
      named('Lynx/2'),
    ])
    expect(kept.map((each) => each['user-agent'])).toEqual([
      'Mozilla/5.0 Chrome/147.0',
      'Mozilla/5.0 Version/26.1 Safari/605',
      'Mozilla/5.0 Version/18.5 Safari/605',
      'Mozilla/5.0 Chrome/147.0 Edg/147.0',
    ])
    expect(
      identityOf([
        ['Connection', 'keep-alive'],
        ['User-Agent', 'x'],
        ['Sec-Fetch-Site', 'same-site'],
      ]),
    ).toEqual({ 'user-agent': 'x', 'sec-fetch-site': 'none' })
  })
})
