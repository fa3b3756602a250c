/** `spoor shell [URL]`: a prompt for JavaScript with a page at hand; or the lines of a pipe, one after the other. */

import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Context } from 'node:vm'
import { addTo, openShell, type Shell } from '../shell/page-at-hand.ts'
import { runLines } from '../shell/lines.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT, problemLine } from '../exit.ts'
import type { CliHost } from '../host.ts'
import { openFetcherOf } from '../page-source.ts'
import { checkUrl } from '../urls.ts'

const HELP = `response  status, headers, url           page       title, text, links, charset, json()
$         the page's tree (cheerio)     select(…)  data by a schema, or a CSS selector: await select('h1')
links     absolute URLs                 fetch(url) another page: await fetch('/next')
body      the bytes                     view()     opens the page in your browser
.help     commands of the prompt, .exit or Ctrl-D to leave`

export async function runShell(context: CommandContext): Promise<ExitCode> {
  const { host, output, positionals } = context
  const [given] = positionals
  const url = given === undefined ? undefined : checkUrl(given)
  const fetcher = await openFetcherOf(context)
  const isTerminal = isTty(host.stdin) && host.stdout.isTTY === true
  const shell = openShell({ fetcher, tell: output.hint, isTerminal })
  try {
    if (url !== undefined && !(await opened(shell, url, context)) && !isTerminal) return EXIT.failed
    if (!isTerminal) return await runLines({ host, output, prepare: (scope) => addTo(scope, shell) })
    output.hint(HELP)
    await prompt(host, (scope) => addTo(scope, shell))
    return EXIT.done
  } finally {
    await fetcher.close()
  }
}

/** A page that does not come is no reason to leave a prompt. */
async function opened(shell: Shell, url: string, { output }: CommandContext): Promise<boolean> {
  try {
    await shell.fetch(url)
    return true
  } catch (error) {
    output.problem(problemLine(error))
    return false
  }
}

async function prompt(host: CliHost, prepare: (scope: Context) => void): Promise<void> {
  const { start } = await import('node:repl')
  const server = start({
    prompt: 'spoor> ',
    input: host.stdin,
    output: host.stdout,
    terminal: true,
    ignoreUndefined: true,
    breakEvalOnSigint: true,
  })
  prepare(server.context)
  server.on('reset', prepare)
  const file = historyFile(host)
  if (file !== undefined) await new Promise<void>((resolve) => server.setupHistory(file, () => resolve()))
  await new Promise<void>((resolve) => server.once('exit', () => resolve()))
}

/** In the user's state folder; undefined where it cannot be made: then nothing is remembered. */
function historyFile({ env }: CliHost): string | undefined {
  const state = env['XDG_STATE_HOME'] ?? env['LOCALAPPDATA'] ?? join(env['HOME'] ?? homedir(), '.local', 'state')
  const file = join(state, 'spoor', 'shell-history')
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return file
  } catch {
    return undefined
  }
}

const isTty = (stream: object): boolean => 'isTTY' in stream && stream.isTTY === true
