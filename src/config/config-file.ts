/** Finds and reads the config file: `spoor.config.{ts,mjs,js,json}` in the current folder, or the one that is named. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Given, GivenOptions } from './given.ts'
import { configError } from './given.ts'
import { nearestName } from './nearest.ts'
import type { CommandName, OptionRow } from './option-row.ts'
import type { OptionKey } from './options.ts'
import { configKeyOf, OPTION_ENTRIES } from './options.ts'

const NAMES = ['spoor.config.ts', 'spoor.config.mjs', 'spoor.config.js', 'spoor.config.json'] as const
const ENDINGS: ReadonlySet<string> = new Set(['.ts', '.mts', '.mjs', '.js', '.json'])

export interface ConfigFile {
  /** As people know it, for messages. */
  readonly name: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Undefined when there is none. Throws CONFIG_INVALID when it cannot be read or is no object. */
export async function loadConfigFile(cwd: string, named: string | undefined): Promise<ConfigFile | undefined> {
  const name = named ?? NAMES.find((candidate) => existsSync(join(cwd, candidate)))
  if (name === undefined) return undefined
  const path = isAbsolute(name) ? name : resolve(cwd, name)
  if (!existsSync(path)) throw configError(`--config: expected a file, found nothing at ${name}`)
  if (!ENDINGS.has(extname(path))) throw configError(`--config: expected a .ts, .mjs, .js or .json file, found ${name}`)
  const values = await evaluate(path, name)
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw configError(`${name}: expected an object of options as its default export, found ${typeof values}`)
  return { name, values: values as Readonly<Record<string, unknown>> }
}

async function evaluate(path: string, name: string): Promise<unknown> {
  try {
    if (path.endsWith('.json')) return JSON.parse(stripBom(await readFile(path, 'utf8')))
    if (path.endsWith('.mjs')) return defaultOf(await import(pathToFileURL(path).href))
    const { createJiti } = await import('jiti')
    const jiti = createJiti(import.meta.url, { fsCache: false, moduleCache: false })
    return defaultOf(await jiti.import(path))
  } catch (error) {
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw configError(`${name}: cannot be read: ${why}`, error)
  }
}

const stripBom = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

function defaultOf(module: unknown): unknown {
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : module
}

/** Options of other commands are passed over. Throws CONFIG_INVALID for a key that no option has, or a value of a wrong kind. */
export function readConfigFile(command: CommandName, file: ConfigFile): GivenOptions {
  const known = new Map(
    OPTION_ENTRIES.filter(([key]) => key !== 'help' && key !== 'config').map(([key, row]) => [
      configKeyOf(row),
      { key, row },
    ]),
  )
  const given = new Map<OptionKey, readonly Given[]>()
  for (const [name, found] of Object.entries(file.values)) {
    const option = known.get(name)
    if (option === undefined) throw unknownKey(name, file.name, known.keys())
    if (found === undefined || found === null || !option.row.on.includes(command)) continue
    given.set(option.key, valuesOf(option.row, `${name} in ${file.name}`, found))
  }
  return given
}

function valuesOf(row: OptionRow<unknown>, where: string, found: unknown): readonly Given[] {
  if (Array.isArray(found)) {
    if (!row.many) throw configError(`${where}: expected one value, found a list`)
    return found.map((one: unknown) => valueOf(row, where, one))
  }
  return [valueOf(row, where, found)]
}

function valueOf(row: OptionRow<unknown>, where: string, found: unknown): Given {
  if (found instanceof RegExp && row.placeholder === 'RE')
    return { raw: found.source, where, regex: new RegExp(found.source, found.flags.replace(/[gy]/g, '')) }
  if (typeof found === 'string') return { raw: found, where }
  if (typeof found === 'number' && Number.isFinite(found)) return { raw: plainNumber(found), where }
  if (typeof found === 'boolean' && row.takes !== 'one') return { raw: String(found), where }
  throw configError(
    `${where}: expected ${row.takes === 'none' ? 'true or false' : 'text or a number'}, found ${kindOf(found)}`,
  )
}

/** Without an exponent, so that the parsers can read it. */
const plainNumber = (found: number): string =>
  Number.isInteger(found) ? BigInt(found).toString() : found.toFixed(9).replace(/0+$/, '')

const kindOf = (found: unknown): string =>
  typeof found === 'object' || typeof found === 'function' ? `a value of type ${typeof found}` : String(found)

function unknownKey(name: string, file: string, known: Iterable<string>): Error {
  const nearest = nearestName(name, known)
  return configError(`${name} in ${file}: unknown option${nearest === undefined ? '' : `; did you mean ${nearest}?`}`)
}
