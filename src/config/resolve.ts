/** Decides the value of every option of a command: flag, then environment, then config file, then default. */

import { readArguments } from './arguments.ts'
import { loadConfigFile, readConfigFile } from './config-file.ts'
import { readEnvironment } from './environment.ts'
import { configError, parseGiven } from './given.ts'
import type { GivenOptions } from './given.ts'
import type { CommandName } from './option-row.ts'
import type { OptionKey, ResolvedOptions } from './options.ts'
import { defaultOptions, OPTION_ENTRIES } from './options.ts'

export interface ResolveInput {
  readonly command: CommandName
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

export interface Resolved {
  readonly options: ResolvedOptions
  readonly positionals: readonly string[]
  /** Options that somebody gave a value, and where: `--depth`, `SPOOR_DEPTH`. */
  readonly givenBy: ReadonlyMap<OptionKey, string>
}

/** Throws CONFIG_INVALID with one line that says where, what was expected and what was found. */
export async function resolveOptions({ command, argv, env, cwd }: ResolveInput): Promise<Resolved> {
  const { given, positionals } = readArguments(command, argv)
  if (given.has('help')) return { options: { ...defaultOptions(), help: true }, positionals, givenBy: new Map() }
  const fromEnvironment = readEnvironment(command, env)
  const named = (given.get('config') ?? fromEnvironment.get('config'))?.at(-1)
  if (named?.raw === '') throw configError(`${named.where}: expected a file, found nothing`)
  const file = await loadConfigFile(cwd, named?.raw)
  const layers = [given, fromEnvironment, ...(file === undefined ? [] : [readConfigFile(command, file)])]
  return { ...mergeLayers(layers), positionals }
}

/** The first layer that gives an option decides it, lists included; every given value is checked. */
function mergeLayers(layers: readonly GivenOptions[]): Omit<Resolved, 'positionals'> {
  const options: Record<string, unknown> = { ...defaultOptions() }
  const givenBy = new Map<OptionKey, string>()
  for (const [key, row] of OPTION_ENTRIES) {
    for (const layer of layers) {
      const given = layer.get(key)
      if (given === undefined) continue
      const parsed = parseGiven(row, given)
      if (givenBy.has(key)) continue
      options[key] = parsed
      givenBy.set(key, given.at(-1)?.where ?? '')
    }
  }
  return { options: options as unknown as ResolvedOptions, givenBy }
}
