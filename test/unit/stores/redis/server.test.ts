import { describe, expect, it } from 'vitest'
import { readServerFacts, warningsOf } from '../../../../src/stores/redis/server.ts'

function info(fields: Readonly<Record<string, string>>): string {
  return Object.entries({ redis_version: '7.0.15', aof_enabled: '1', maxmemory: '0', ...fields })
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('')
}

function factsOf(fields: Readonly<Record<string, string>>): ReturnType<typeof readServerFacts> {
  return readServerFacts(info(fields), 'here')
}

describe('what a server says of itself', () => {
  it('makes it durable when it writes an append-only file and evicts nothing', () => {
    const facts = factsOf({})
    expect(facts.capabilities).toEqual({ durable: true, shared: true, transactional: true, unpaced: true })
    expect(warningsOf(facts, 'here')).toEqual([])
  })

  it('warns when nothing is written to disk', () => {
    const facts = factsOf({ aof_enabled: '0' })
    expect(facts.capabilities.durable).toBe(false)
    expect(warningsOf(facts, 'here')).toEqual([expect.stringContaining('appendonly yes')])
  })

  it('warns when full memory costs keys, but not of policies that cannot touch ours', () => {
    const full = { maxmemory: '1000000' }
    const facts = factsOf({ ...full, maxmemory_policy: 'allkeys-lru' })
    expect(facts.capabilities.durable).toBe(false)
    expect(warningsOf(facts, 'here')).toEqual([expect.stringContaining('allkeys-lru')])
    for (const policy of ['noeviction', 'volatile-lru']) {
      expect(factsOf({ ...full, maxmemory_policy: policy }).capabilities.durable).toBe(true)
    }
    expect(factsOf({ maxmemory_policy: 'allkeys-lru' }).capabilities.durable).toBe(true)
  })

  it.each(['6.2.0', '7.4.1', '8.0.0', '10.1.0'])('accepts version %s', (version) => {
    expect(factsOf({ redis_version: version }).version).toBe(version)
  })

  it.each(['6.0.16', '5.0.14', '2.8.0', ''])('refuses version "%s" and names what it expected', (version) => {
    expect(() => factsOf({ redis_version: version })).toThrow(/expected Redis 6\.2 or newer, or Valkey, found/)
  })
})
