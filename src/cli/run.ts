/** Runs one command line: finds the command, resolves its options, maps what went wrong to an exit status. */

import { nearestName } from '../config/nearest.ts'
import { resolveOptions } from '../config/resolve.ts'
import { CrawlError, isCrawlError } from '../core/errors.ts'
import { packageVersion } from '../util/package-version.ts'
import type { CommandSpec } from './command.ts'
import { COMMANDS } from './command-table.ts'
import type { ExitCode } from './exit.ts'
import { EXIT, exitCodeOf, problemLine } from './exit.ts'
import { commandHelp, mainHelp, shortHelp } from './help.ts'
import type { CliHost } from './host.ts'
import { createOutput } from './output.ts'

const HELP_WORDS: ReadonlySet<string> = new Set(['help', '--help', '-h'])
const VERSION_WORDS: ReadonlySet<string> = new Set(['version', '--version', '-V', '-v'])

export async function runCli(host: CliHost): Promise<ExitCode> {
  const output = createOutput(host, { json: false, quiet: false })
  try {
    const [word, ...rest] = host.argv
    if (word === undefined) await output.result(shortHelp(packageVersion()))
    else if (VERSION_WORDS.has(word)) await output.result(packageVersion())
    else if (HELP_WORDS.has(word)) await output.result(helpFor(rest[0]))
    else return await runCommand(host, commandNamed(word), rest)
    return EXIT.done
  } catch (error) {
    if (output.isGone()) return EXIT.done
    output.problem(problemLine(error))
    if (host.env['SPOOR_LOG_LEVEL'] === 'debug' && !isCrawlError(error)) output.problem(stackOf(error))
    return exitCodeOf(error)
  }
}

async function runCommand(host: CliHost, spec: CommandSpec, argv: readonly string[]): Promise<ExitCode> {
  const resolved = await resolveOptions({ command: spec.name, argv, env: host.env, cwd: host.cwd })
  const { options, positionals } = resolved
  const output = createOutput(host, { json: options.json, quiet: options.quiet })
  if (options.help) {
    await output.result(commandHelp(spec))
    return EXIT.done
  }
  checkPositionals(spec, positionals, options.batch)
  const run = await spec.load()
  try {
    return await run({ host, output, ...resolved })
  } catch (error) {
    output.clearStatus()
    // `spoor failures --json | head -1` is no fault
    if (output.isGone()) return EXIT.done
    throw error
  }
}

function helpFor(name: string | undefined): string {
  return name === undefined ? mainHelp(packageVersion()) : commandHelp(commandNamed(name))
}

function commandNamed(name: string): CommandSpec {
  const found = COMMANDS.find((command) => command.name === name)
  if (found !== undefined) return found
  throw new CrawlError('CONFIG_INVALID', { context: { problem: unknownCommand(name) } })
}

function unknownCommand(name: string): string {
  if (/^[a-z]+:\/\//i.test(name)) return `${name}: expected a command first; did you mean spoor crawl ${name}?`
  if (name.startsWith('-')) return `${name}: expected a command first, options after it; see spoor --help`
  const near = nearestName(
    name,
    COMMANDS.map((command) => command.name),
  )
  return `${name}: unknown command; ${near === undefined ? 'see spoor --help' : `did you mean spoor ${near}?`}`
}

function checkPositionals(spec: CommandSpec, positionals: readonly string[], batch: boolean): void {
  const { min, max, name } = spec.positionals
  const problem = (text: string): Error =>
    new CrawlError('CONFIG_INVALID', { context: { problem: `${text}; see spoor ${spec.name} --help` } })
  const extra = positionals[batch ? 0 : max]
  if (extra !== undefined) throw problem(`expected ${limitText(batch ? 0 : max, name)}, found also "${extra}"`)
  const least = spec.usage.some((usage) => usage.startsWith('--batch')) && !batch ? 1 : min
  if (positionals.length < least && !batch) throw problem(`expected ${name}, found nothing`)
}

const limitText = (max: number, name: string): string => (max === 0 ? 'no argument' : `one ${name}`)

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
