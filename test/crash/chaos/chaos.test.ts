/**
 * The promise under everything at once: workers killed, stopped and started late, the server of the store killed.
 * By hand: npm run chaos. SPOOR_CHAOS_MS: for how long; SPOOR_CHAOS_SEED: to see a run again; SPOOR_CHAOS_STORE: only this store.
 */

import { describe, expect, it } from 'vitest'
import { start as startMongodb } from '../../../scripts/services/mongodb.mjs'
import { start as startPostgres } from '../../../scripts/services/postgres.mjs'
import { start as startRedis } from '../../../scripts/services/redis.mjs'
import { serviceUrl, type ServiceName } from '../../support/services.ts'
import { runChaos } from './run.ts'
import type { ChaosServer } from './run.ts'

const forMs = Number(process.env['SPOOR_CHAOS_MS'] ?? 8000)
const seed = Number(process.env['SPOOR_CHAOS_SEED'] ?? Date.now() % 1_000_000)
const only = process.env['SPOOR_CHAOS_STORE']
const isByHand = process.env['SPOOR_CHAOS_MS'] !== undefined
/** By hand every server is wanted, and installed when it is missing. */
const given = (name: ServiceName): boolean => isByHand || serviceUrl(name) !== undefined

type Started = ChaosServer & { stop(): Promise<void> }

const SERVERS: Readonly<Record<string, { readonly start: () => Promise<Started>; readonly isThere: boolean }>> = {
  postgres: { start: () => startPostgres(), isThere: given('POSTGRES') },
  redis: { start: () => startRedis(), isThere: given('REDIS') },
  mongodb: { start: () => startMongodb(), isThere: given('MONGODB') },
}

const isWanted = (name: string): boolean => only === undefined || only === name

describe.runIf(process.platform === 'linux')(`chaos for ${forMs} ms, SPOOR_CHAOS_SEED=${seed}`, () => {
  it.runIf(isWanted('sqlite'))(
    'all pages are there once, on the embedded store',
    { timeout: forMs + 150_000 },
    async () => {
      console.log(`sqlite, seed ${seed}: ${await runChaos({ server: undefined, seed, forMs })}`)
    },
  )

  for (const [name, { start, isThere }] of Object.entries(SERVERS)) {
    it.runIf(isThere && isWanted(name))(
      `all pages are there once, on ${name}`,
      { timeout: forMs + 150_000 },
      async () => {
        const server = await start()
        try {
          const told = await runChaos({ server, seed, forMs })
          console.log(`${name}, seed ${seed}: ${told}`)
          expect(told).not.toBe('')
        } finally {
          await server.stop()
        }
      },
    )
  }
})
