/** Starts the built command as a person would, with a deadline, and tells how it ended. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestSite } from '../../src/testing/site.ts'

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js')

/** A command that is still running by then is killed and reported: nothing waits for ever. */
const DEADLINE_MS = 180_000

export interface CommandEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningCommand {
  readonly pid: number
  /** Milliseconds of the machine's monotonic clock. */
  readonly startedAtMs: number
  readonly ended: Promise<CommandEnd>
  signal(name: NodeJS.Signals): void
  /** Resolves when stderr has it; rejects when the command ends without. */
  says(what: RegExp): Promise<void>
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<CommandEnd>
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** A pipe that nothing comes through and that stays open, as a terminal would. Default: no stdin. */
  readonly openStdin?: boolean
  /** Default: DEADLINE_MS. */
  readonly deadlineMs?: number
}

export function startSpoor(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  if (!existsSync(MAIN)) throw new Error('dist/cli/main.js is missing: run `npm run build` first')
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NO_COLOR: '1', ...options.env },
    stdio: [options.openStdin === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  const ended = endOf(child, options.deadlineMs ?? DEADLINE_MS)
  return {
    pid: child.pid ?? 0,
    startedAtMs: monotonicMs(),
    ended,
    signal: (name) => {
      child.kill(name)
    },
    says: (what) => saysOf(child, ended, what),
    kill: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}

function saysOf(child: ChildProcess, ended: Promise<CommandEnd>, what: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (what.test(said)) resolve()
    })
    const early = ended.then(({ code }) => {
      throw new Error(`the command ended (${code}) without ${String(what)}: ${said.slice(-500)}`)
    })
    early.catch(reject)
  })
}

export function runSpoor(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
  return startSpoor(args, options).ended
}

/** Resolves when so many requests have come; rejects when the command ends before. */
export async function untilRequests(site: TestSite, count: number, command: RunningCommand): Promise<void> {
  const early = command.ended.then(({ code, stderr }) => {
    throw new Error(`the command ended (${code}) after ${site.log.length} of ${count} requests: ${stderr.slice(-500)}`)
  })
  await Promise.race([site.waitForRequests(count), early])
  early.catch(() => undefined) // it ends later, as the test goes on
}

/** A test that times out leaves its command behind: it goes with the process of the tests. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

function endOf(child: ChildProcess, deadlineMs: number): Promise<CommandEnd> {
  return new Promise((resolve, reject) => {
    running.add(child)
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    const deadline = setTimeout(() => {
      child.kill('SIGKILL')
      reject(
        new Error(`not over after ${deadlineMs} ms; its last words: ${Buffer.concat(stderr).toString().slice(-500)}`),
      )
    }, deadlineMs)
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(deadline)
      running.delete(child)
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
    })
  })
}

/** The clock that the test site stamps its log with. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/** Processes that this one has started and that still run. Linux only: elsewhere none. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string
}

export async function openTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'spoor-test-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}
