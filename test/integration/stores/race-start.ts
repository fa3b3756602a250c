/** Several processes that begin at once, however long each takes to come up. */

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** What a process says when it is ready; it begins when its standard input ends. */
export const UP = 'up'

/** Runs all of `commands` with Node.js and gives the lines of each; a process that fails is an error. */
export async function runTogether(commands: readonly (readonly string[])[]): Promise<string[][]> {
  const runs = commands.map((args) => start(args))
  await Promise.all(runs.map(({ up }) => up))
  for (const { begin } of runs) begin()
  return await Promise.all(runs.map(({ lines }) => lines))
}

interface Run {
  readonly up: Promise<void>
  readonly lines: Promise<string[]>
  begin(): void
}

function start(args: readonly string[]): Run {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const told: string[] = []
  const lines = new Promise<string[]>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve(told)
      else reject(new Error(`${args.join(' ')} ended with ${signal ?? code ?? 'nothing'}`))
    })
  })
  const up = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === UP) resolve()
      else if (line !== '') told.push(line)
    })
    lines.then(() => resolve(), reject)
  })
  return { up, lines, begin: () => child.stdin.end() }
}
