/** `spoor cache VERB`: the download cache of a data folder. */

import { configError } from '../../config/given.ts'
import { nearestName } from '../../config/nearest.ts'
import { flagOf, OPTIONS, type OptionKey } from '../../config/options.ts'
import { exportArchive, importArchives } from '../cache/archive.ts'
import { getEntry, listEntries, showStats } from '../cache/look.ts'
import { pruneEntries, removeEntries } from '../cache/tidy.ts'
import type { CommandContext, RunCommand } from '../command.ts'
import type { ExitCode } from '../exit.ts'

interface Verb {
  readonly run: RunCommand
  /** How many arguments it takes, and what they are. */
  readonly min: number
  readonly max: number
  readonly takes: string
  /** Options that mean something to it, beside those of all. */
  readonly options: readonly OptionKey[]
}

const MANY = Number.MAX_SAFE_INTEGER

const VERBS: Readonly<Record<string, Verb>> = {
  ls: { run: listEntries, min: 0, max: 1, takes: 'the beginning of a URL', options: ['onlyHost'] },
  get: { run: getEntry, min: 1, max: 1, takes: 'a URL', options: [] },
  rm: { run: removeEntries, min: 0, max: MANY, takes: 'a URL', options: ['onlyHost'] },
  prune: { run: pruneEntries, min: 0, max: 0, takes: 'nothing', options: ['cacheTtlMs', 'cacheMaxBytes'] },
  stats: { run: showStats, min: 0, max: 0, takes: 'nothing', options: [] },
  import: { run: importArchives, min: 1, max: MANY, takes: 'a WARC file', options: ['cacheMaxBytes', 'cacheCodec'] },
  export: { run: exportArchive, min: 1, max: 1, takes: 'a WARC file', options: ['onlyHost'] },
}

/** Of some verbs only. */
const VERB_OPTIONS: readonly OptionKey[] = ['onlyHost', 'cacheTtlMs', 'cacheMaxBytes', 'cacheCodec']

export async function runCache(context: CommandContext): Promise<ExitCode> {
  const [name = '', ...positionals] = context.positionals
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (verb === undefined) throw unknownVerb(name)
  checkArguments(name, verb, positionals)
  for (const key of VERB_OPTIONS) {
    // from the environment or a config file it may be meant for others
    if (!verb.options.includes(key) && context.givenBy.get(key)?.startsWith('-') === true)
      throw configError(`${flagOf(OPTIONS[key])}: no option of "spoor cache ${name}"; see spoor cache --help`)
  }
  return verb.run({ ...context, positionals })
}

function unknownVerb(name: string): Error {
  const names = Object.keys(VERBS)
  const near = nearestName(name, names)
  const hint = near === undefined ? `one of ${names.join(', ')}` : `${near}?`
  return configError(
    near === undefined
      ? `spoor cache ${name}: expected ${hint}`
      : `spoor cache ${name}: unknown; did you mean spoor cache ${hint}`,
  )
}

function checkArguments(name: string, { min, max, takes }: Verb, found: readonly string[]): void {
  if (found.length < min)
    throw configError(`spoor cache ${name}: expected ${takes}, found nothing; see spoor cache --help`)
  const extra = found[max]
  if (extra === undefined) return
  const most = max === 0 ? 'no argument' : `one argument (${takes})`
  throw configError(`spoor cache ${name}: expected ${most}, found also "${extra}"`)
}
