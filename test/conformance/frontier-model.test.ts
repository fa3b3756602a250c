import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'vitest'
import { openSqliteStore } from '../../src/stores/sqlite/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { compareWithMemory } from '../support/frontier-model.ts'
import type { ModelSubject } from '../support/frontier-model.ts'

async function create(): Promise<ModelSubject> {
  const dir = mkdtempSync(join(tmpdir(), 'spoor-model-'))
  const clock = createFakeClock()
  let generation = 0
  return {
    clock,
    open: (random) => openSqliteStore({ dir: join(dir, '0'), clock, random }),
    crash: (random) => {
      const [from, to] = [join(dir, String(generation)), join(dir, String(++generation))]
      cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('-shm') })
      return openSqliteStore({ dir: to, clock, random })
    },
    dispose: async () => {
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

it('the SQLite store answers random sequences of commands as the memory store does', { timeout: 120_000 }, () =>
  compareWithMemory(create, 60),
)
