#!/usr/bin/env node
/** The `spoor` command: hands the process to `runCli`. */

import { systemClock } from '../core/clock.ts'
import { problemLine } from './exit.ts'
import type { CliHost } from './host.ts'
import { runCli } from './run.ts'
import { tuneEngine } from '../util/tune-engine.ts'

tuneEngine()

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const host: CliHost = {
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  // opened by the commands that read it only
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  onInterrupt: (fn) => {
    for (const signal of SIGNALS) process.on(signal, fn)
    return () => {
      for (const signal of SIGNALS) process.off(signal, fn)
    }
  },
}

process.on('uncaughtException', (error) => {
  process.stderr.write(`${problemLine(error)}\n`)
  process.exit(1)
})

const code = await runCli(host)
// what is still open by now (an idle connection, stdin) must not keep the command alive; what was written must get out
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
process.exit(code)
