/** What the command gets from the process it runs in, so that it can be started by a test as well as by Node. */

import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../core/clock.ts'

export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

export interface CliHost {
  /** Without the names of node and of the script. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: Readable
  readonly stdout: Terminal
  readonly stderr: Terminal
  readonly clock: Clock
  /** Calls `fn` at SIGINT and SIGTERM, instead of ending the process, until the answer is called. */
  onInterrupt(fn: () => void): () => void
}
