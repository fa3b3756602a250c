/** Reads the arguments of a command by the option table. */

import { parseArgs } from 'node:util'
import type { Given, GivenOptions } from './given.ts'
import { configError } from './given.ts'
import { nearestName } from './nearest.ts'
import type { CommandName, OptionRow } from './option-row.ts'
import type { OptionKey } from './options.ts'
import { flagOf, OPTION_ENTRIES } from './options.ts'

export interface Arguments {
  readonly given: GivenOptions
  readonly positionals: readonly string[]
}

interface Known {
  readonly key: OptionKey
  readonly row: OptionRow<unknown>
  /** The name turns a switch off. */
  readonly off: boolean
}

/** All names that can follow two dashes (or one, when short). */
function knownNames(command: CommandName | undefined): ReadonlyMap<string, Known> {
  const names = new Map<string, Known>()
  for (const [key, row] of OPTION_ENTRIES) {
    if (command !== undefined && !row.on.includes(command)) continue
    names.set(row.flag, { key, row, off: false })
    if (row.short !== undefined) names.set(row.short, { key, row, off: false })
    if (row.takes === 'none') names.set(`no-${row.flag}`, { key, row, off: true })
  }
  return names
}

type Token = NonNullable<ReturnType<typeof tokensOf>>[number]
type OptionToken = Extract<Token, { kind: 'option' }>

function tokensOf(argv: readonly string[], names: ReadonlyMap<string, Known>) {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {}
  for (const [name, { row, off }] of names) {
    if (name === row.short) continue
    const short = row.short === undefined || off ? {} : { short: row.short }
    options[name] = { type: row.takes === 'one' ? 'string' : 'boolean', ...short }
  }
  return parseArgs({ args: [...argv], options, strict: false, tokens: true, allowPositionals: true }).tokens
}

/** Throws CONFIG_INVALID for an unknown option, a missing value or a value too many. Values are not parsed yet. */
export function readArguments(command: CommandName, argv: readonly string[]): Arguments {
  const names = knownNames(command)
  const given = new Map<OptionKey, Given[]>()
  const positionals: string[] = []
  const tokens = tokensOf(argv, names)
  const taken = new Set<number>()
  tokens.forEach((token, position) => {
    if (token.kind === 'positional' && !taken.has(position)) positionals.push(token.value)
    if (token.kind !== 'option') return
    const known = names.get(token.name)
    if (known === undefined) throw unknownOption(token, command, names)
    const next = tokens[position + 1]
    if (takesNext(known, token, next)) taken.add(position + 1)
    const raw = rawValue(known, token, taken.has(position + 1) ? next : undefined)
    const before = given.get(known.key) ?? []
    given.set(known.key, [...before, { raw, where: token.rawName }])
  })
  return { given, positionals }
}

/** `--dashboard 127.0.0.1:9000`, `--render auto`: only what looks like a value is taken for one. */
function takesNext(known: Known, token: OptionToken, next: Token | undefined): boolean {
  return (
    known.row.takes === 'optional' &&
    token.value === undefined &&
    next?.kind === 'positional' &&
    known.row.takesNext(next.value)
  )
}

function rawValue(known: Known, token: OptionToken, next: Token | undefined): string {
  const { row, off } = known
  if (row.takes === 'none') {
    if (token.value === undefined) return off ? 'false' : 'true'
    if (off) throw configError(`${token.rawName}: expected no value, found ${JSON.stringify(token.value)}`)
    return token.value
  }
  if (row.takes === 'optional') return token.value ?? (next?.kind === 'positional' ? next.value : '')
  if (token.value === undefined)
    throw configError(`${token.rawName}: expected ${row.placeholder} after it, found nothing`)
  if (!token.inlineValue && token.value.startsWith('--'))
    throw configError(
      `${token.rawName}: expected ${row.placeholder} after it, found ${token.value} (write ${token.rawName}=${token.value} if it is meant)`,
    )
  return token.value
}

function unknownOption(token: OptionToken, command: CommandName, names: ReadonlyMap<string, Known>): Error {
  const elsewhere = knownNames(undefined).get(token.name)
  if (elsewhere !== undefined)
    return configError(
      `${token.rawName}: no option of "spoor ${command}"; it belongs to ${elsewhere.row.on.map((name) => `"spoor ${name}"`).join(', ')}`,
    )
  const flags = new Set([...names.values()].map(({ row }) => flagOf(row)))
  const nearest = nearestName(token.rawName, [...flags, ...[...names.keys()].map((name) => `--${name}`)])
  const hint = nearest === undefined ? `see spoor ${command} --help` : `did you mean ${nearest}?`
  return configError(`${token.rawName}: unknown option; ${hint}`)
}
