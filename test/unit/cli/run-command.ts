/** Runs a command line in this process, with streams that collect what it prints. */

import { PassThrough, Readable, Writable } from 'node:stream'
import { systemClock } from '../../../src/core/clock.ts'
import type { CliHost, Terminal } from '../../../src/cli/host.ts'
import { runCli } from '../../../src/cli/run.ts'

export interface CommandRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array | AsyncIterable<Uint8Array>
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export function collector(): Terminal & { text(): string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return Object.assign(stream, { text: () => Buffer.concat(chunks).toString() })
}

export interface CollectingHost {
  readonly host: CliHost
  readonly stdout: ReturnType<typeof collector>
  readonly stderr: ReturnType<typeof collector>
  interrupt(): void
}

export function hostOf(argv: readonly string[], { stdin = '', env = {}, cwd = '/' }: RunOptions = {}): CollectingHost {
  const stdout = collector()
  const stderr = collector()
  const signals = new PassThrough()
  const host: CliHost = {
    argv,
    env,
    cwd,
    stdin: Readable.from(
      typeof stdin === 'string' ? [Buffer.from(stdin)] : stdin instanceof Uint8Array ? [stdin] : stdin,
    ),
    stdout,
    stderr,
    clock: systemClock,
    onInterrupt: (fn) => {
      signals.on('interrupt', fn)
      return () => {
        signals.off('interrupt', fn)
      }
    },
  }
  return { host, stdout, stderr, interrupt: () => void signals.emit('interrupt') }
}

export async function runCommand(argv: readonly string[], options: RunOptions = {}): Promise<CommandRun> {
  const { host, stdout, stderr } = hostOf(argv, options)
  const code = await runCli(host)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

export const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
