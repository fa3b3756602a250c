/** Runs a command and measures its whole process tree: wall time, processor time, memory at its peak. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'

export interface Measurement {
  readonly seconds: number
  /** User and system time of the command and everything it started. */
  readonly cpuMs: number
  /** Largest sum of the peak resident sizes of the processes alive at one instant. */
  readonly peakMiB: number
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const SAMPLE_EVERY_MS = 50

/**
 * The shell's `times` gives the processor time of all children it waited for, to the millisecond, which node does not
 * give for its own children.
 */
const WRAPPER = '"$@"; code=$?; times >&3; exit $code'

export async function measureCommand(command: string, args: readonly string[], cwd: string): Promise<Measurement> {
  const child = spawn('bash', ['-c', WRAPPER, 'bash', command, ...args], {
    cwd,
    env: { ...process.env, LC_ALL: 'C', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const startMs = performance.now()
  const outputs: [Buffer[], Buffer[], Buffer[]] = [[], [], []]
  child.stdout?.on('data', (chunk: Buffer) => outputs[0].push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => outputs[1].push(chunk))
  child.stdio[3]?.on('data', (chunk: Buffer) => outputs[2].push(chunk))
  let peakKiB = 0
  const sampling = setInterval(() => {
    const alive = child.pid === undefined ? [] : descendantsOf(child.pid)
    peakKiB = Math.max(
      peakKiB,
      alive.reduce((sum, pid) => sum + peakOf(pid), 0),
    )
  }, SAMPLE_EVERY_MS)
  let seconds = 0
  child.once('exit', () => {
    seconds = (performance.now() - startMs) / 1000
  })
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(sampling)
  const [stdout, stderr, times] = outputs.map((chunks) => Buffer.concat(chunks).toString())
  return {
    seconds,
    cpuMs: cpuMsOf(times ?? ''),
    peakMiB: peakKiB / 1024,
    code,
    stdout: stdout ?? '',
    stderr: stderr ?? '',
  }
}

/** The second line of `times` is the children's: `0m1.234s 0m0.567s`. */
function cpuMsOf(times: string): number {
  const children = times.trim().split('\n').at(-1) ?? ''
  const durations = [...children.matchAll(/(\d+)m([\d.]+)s/g)]
  return durations.reduce((sum, [, minutes, seconds]) => sum + (Number(minutes) * 60 + Number(seconds)) * 1000, 0)
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
