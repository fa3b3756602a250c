/** Starts workers of a test on a PostgreSQL store and reads what they tell. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Told {
  readonly kind: 'leased' | 'settled' | 'lost'
  readonly id: string
  readonly hostKey?: string
  readonly leasedAtMs?: number
  readonly attempt?: number
  readonly renewed?: boolean
}

export interface Worker {
  readonly child: ChildProcess
  readonly told: readonly Told[]
  /** Resolves at the next line. */
  next(): Promise<void>
  /** Resolves with the exit code when it has ended. */
  readonly ended: Promise<number | null>
}

export function startWorker(...args: readonly string[]): Worker {
  const file = fileURLToPath(new URL('postgres-worker.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'jiti/register', file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const told: Told[] = []
  const waiting: (() => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    told.push(JSON.parse(line) as Told)
    for (const wake of waiting.splice(0)) wake()
  })
  return {
    child,
    told,
    next: () => new Promise((resolve) => void waiting.push(resolve)),
    ended: new Promise((resolve) => child.on('close', resolve)),
  }
}
