/**
 * The promise under everything at once: workers killed, stopped and started late, the server of the store killed.
 * By hand: npm run chaos. SPOOR_CHAOS_MS: for how long; SPOOR_CHAOS_SEED: to see a run again; SPOOR_CHAOS_STORE: only this
 * store.
 */

import { describe, it } from 'vitest'
import { storeServers } from '../../support/store-servers.ts'
import { runChaos } from './run.ts'

const forMs = Number(process.env['SPOOR_CHAOS_MS'] ?? 8000)
const seed = Number(process.env['SPOOR_CHAOS_SEED'] ?? Date.now() % 1_000_000)
const only = process.env['SPOOR_CHAOS_STORE']
const timeout = forMs + 300_000

const isWanted = (name: string): boolean => only === undefined || only === name

describe.runIf(process.platform === 'linux')(`chaos for ${forMs} ms, SPOOR_CHAOS_SEED=${seed}`, () => {
  it.runIf(isWanted('sqlite'))('all pages are there once, on the embedded store', { timeout }, async () => {
    console.log(`sqlite, seed ${seed}: ${await runChaos({ server: undefined, seed, forMs })}`)
  })

  for (const { name, isThere, start } of storeServers(process.env['SPOOR_CHAOS_MS'] !== undefined)) {
    it.runIf(isThere && isWanted(name))(`all pages are there once, on ${name}`, { timeout }, async () => {
      const server = await start()
      try {
        console.log(`${name}, seed ${seed}: ${await runChaos({ server, seed, forMs })}`)
      } finally {
        await server.stop()
      }
    })
  }
})
