/** Reads options from environment variables: `SPOOR_` and the flag in upper case. */

import type { Given, GivenOptions } from './given.ts'
import { configError } from './given.ts'
import { nearestName } from './nearest.ts'
import type { CommandName, OptionRow } from './option-row.ts'
import type { OptionKey } from './options.ts'
import { OPTION_ENTRIES } from './options.ts'

const PREFIX = 'SPOOR_'

interface Variable {
  readonly key: OptionKey
  readonly row: OptionRow<unknown>
  /** `SPOOR_NO_ROBOTS=1` turns robots off. */
  readonly inverted: boolean
}

function variables(): ReadonlyMap<string, Variable> {
  const names = new Map<string, Variable>()
  for (const [key, row] of OPTION_ENTRIES) {
    if (key === 'help') continue
    const name = row.flag.replaceAll('-', '_').toUpperCase()
    names.set(PREFIX + name, { key, row, inverted: false })
    if (row.takes === 'none') names.set(`${PREFIX}NO_${name}`, { key, row, inverted: true })
  }
  return names
}

/**
 * Options of other commands are passed over; an empty variable counts as not set; several values of one option stand
 * one a line. Throws CONFIG_INVALID for a name that no option has.
 */
export function readEnvironment(command: CommandName, env: Readonly<Record<string, string | undefined>>): GivenOptions {
  const known = variables()
  const given = new Map<OptionKey, readonly Given[]>()
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || text === undefined) continue
    const variable = known.get(name)
    if (variable === undefined) throw unknownVariable(name, known.keys())
    if (text !== '' && variable.row.on.includes(command)) given.set(variable.key, valuesOf(variable, name, text))
  }
  return given
}

function valuesOf({ row, inverted }: Variable, name: string, text: string): readonly Given[] {
  if (row.many)
    return text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map((raw) => ({ raw, where: name }))
  if (!inverted) return [{ raw: text, where: name }]
  const parsed = row.parse(text)
  return [{ raw: parsed.ok ? String(parsed.value !== true) : text, where: name }]
}

function unknownVariable(name: string, known: Iterable<string>): Error {
  const nearest = nearestName(
    name.slice(PREFIX.length),
    [...known].map((one) => one.slice(PREFIX.length)),
  )
  return configError(
    `${name}: no option has this name in the environment${nearest === undefined ? '' : `; did you mean ${PREFIX}${nearest}?`}`,
  )
}
