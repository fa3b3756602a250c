/** Runs a command and measures its whole process tree: wall time, processor time, memory at its peak. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Measurement {
  readonly seconds: number
  /** User and system time of the command and everything it started; 0 when it was killed. */
  readonly cpuMs: number
  /** Largest sum of the peak resident sizes of the processes alive at one instant. */
  readonly peakMiB: number
  /** null: ended by a signal. */
  readonly code: number | null
  /** It did not end within the time it was given. */
  readonly timedOut: boolean
  /** The end of what it wrote to stdout and stderr. */
  readonly output: string
}

export interface RunningCommand {
  readonly ended: Promise<Measurement>
  /** SIGKILL to every process of it at once. */
  kill(): void
}

const SAMPLE_EVERY_MS = 50
const OUTPUT_KEPT = 4000

/**
 * The shell's `times` gives the processor time of all children it waited for, to the millisecond, which node does not
 * give for its own children.
 */
const WRAPPER = '"$@"; code=$?; times >&3; exit $code'

export function startCommand({ file, args, cwd, env }: Command, timeoutMs: number): RunningCommand {
  const child = spawn('bash', ['-c', WRAPPER, 'bash', file, ...args], {
    cwd,
    env: { ...process.env, LC_ALL: 'C.UTF-8', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // a process group of its own, so that all of it can be killed in one step
    detached: true,
  })
  const startMs = performance.now()
  const kill = (): void => {
    for (const pid of child.pid === undefined ? [] : [...descendantsOf(child.pid), child.pid]) killProcess(pid)
  }
  const measure = async (): Promise<Measurement> => {
    let output = ''
    let times = ''
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT)
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    child.stdio[3]?.on('data', (chunk: Buffer) => (times += chunk.toString()))
    let peakKiB = 0
    let seconds = 0
    let timedOut = false
    const sampling = setInterval(() => {
      const alive = child.pid === undefined ? [] : descendantsOf(child.pid)
      const sum = alive.reduce((total, pid) => total + peakOf(pid), 0)
      peakKiB = Math.max(peakKiB, sum)
    }, SAMPLE_EVERY_MS)
    const deadline = setTimeout(() => {
      timedOut = true
      kill()
    }, timeoutMs)
    child.once('exit', () => {
      seconds = (performance.now() - startMs) / 1000
    })
    const [code] = (await once(child, 'close')) as [number | null]
    clearInterval(sampling)
    clearTimeout(deadline)
    return { seconds, cpuMs: cpuMsOf(times), peakMiB: peakKiB / 1024, code, timedOut, output }
  }
  return { ended: measure(), kill }
}

/** The second line of `times` is the children's: `0m1.234s 0m0.567s`. */
function cpuMsOf(times: string): number {
  const children = times.trim().split('\n').at(-1) ?? ''
  const durations = [...children.matchAll(/(\d+)m([\d.]+)s/g)]
  return durations.reduce((sum, [, minutes, seconds]) => sum + (Number(minutes) * 60 + Number(seconds)) * 1000, 0)
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // gone in the meantime
  }
}

function descendantsOf(pid: number): number[] {
  const children = readChildren(pid)
  return [...children, ...children.flatMap(descendantsOf)]
}

function readChildren(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return [] // gone in the meantime
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0 // gone in the meantime
  }
}
