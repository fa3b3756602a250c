/** Option values as they were given somewhere, before they are parsed, and how problems with them are told. */

import { CrawlError } from '../core/errors.ts'
import type { OptionRow } from './option-row.ts'
import type { OptionKey } from './options.ts'

/** One value as it was written. */
export interface Given {
  readonly raw: string
  /** Where, for messages: `--depth`, `SPOOR_DEPTH`, `depth in spoor.config.ts`. */
  readonly where: string
  /** A regular expression that a config file gave as one. */
  readonly regex?: RegExp
}

/** What one source (arguments, environment, file) gives. */
export type GivenOptions = ReadonlyMap<OptionKey, readonly Given[]>

const MAX_SHOWN = 200

/** A value for a message: quoted, on one line, bounded. */
export function shown(raw: string): string {
  // what was written may hold a password
  const text = JSON.stringify(raw.replace(/\/\/[^/@\s]*@/, '//***@'))
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…"` : text
}

export function configError(problem: string, cause?: unknown): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem }, ...(cause === undefined ? {} : { cause }) })
}

/** The values of one option, parsed. Throws CONFIG_INVALID with the place and what was expected. */
export function parseGiven(row: OptionRow<unknown>, given: readonly Given[]): unknown {
  const values = given.map((one) => {
    if (one.regex !== undefined) return one.regex
    const parsed = row.parse(one.raw)
    if (!parsed.ok) {
      const found = row.secret === true ? 'something else' : shown(one.raw)
      throw configError(`${one.where}: expected ${parsed.expected}, found ${found}`)
    }
    refuseWhatIsNotCarriedOut(row, one)
    return parsed.value
  })
  return row.many ? values : values.at(-1)
}

function refuseWhatIsNotCarriedOut(row: OptionRow<unknown>, one: Given): void {
  if (row.onlyFor === undefined || row.onlyFor.includes(one.raw)) return
  const only = row.onlyFor.length === 0 ? '' : ` (only ${row.onlyFor.join(', ')})`
  throw configError(`${one.where}: ${shown(one.raw)} is not in this version yet${only}`)
}
