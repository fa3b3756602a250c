/** The table of all options: one row each. Types, defaults, flags, environment, config file and `--help` come from it. */

import type { CommandName, OptionRow } from './option-row.ts'
import { CACHE } from './table/cache.ts'
import { LIMITS, POLITENESS, WHAT } from './table/crawl.ts'
import { GENERAL, INPUT } from './table/general.ts'
import { RENDER } from './table/render.ts'
import { REQUESTS } from './table/requests.ts'
import { RESULTS, STORE } from './table/results.ts'
import { TRAPS } from './table/traps.ts'

export const OPTIONS = {
  ...WHAT,
  ...LIMITS,
  ...TRAPS,
  ...POLITENESS,
  ...REQUESTS,
  ...RENDER,
  ...CACHE,
  ...RESULTS,
  ...STORE,
  ...INPUT,
  ...GENERAL,
} as const

export type OptionKey = keyof typeof OPTIONS
type ValueOf<R> = R extends OptionRow<infer T> ? T : never

/** Every option with its value: milliseconds and bytes, undefined where there is no limit or no choice. */
export type ResolvedOptions = { readonly [K in OptionKey]: ValueOf<(typeof OPTIONS)[K]> }

export const OPTION_ENTRIES: readonly (readonly [OptionKey, OptionRow<unknown>])[] = Object.entries(
  OPTIONS,
) as unknown as readonly (readonly [OptionKey, OptionRow<unknown>])[]

/** The options as they are when nobody says anything. */
export function defaultOptions(): ResolvedOptions {
  return Object.fromEntries(OPTION_ENTRIES.map(([key, row]) => [key, row.default])) as unknown as ResolvedOptions
}

/** Options that a command takes and this version carries out. */
export function rowsOf(command: CommandName): readonly OptionRow<unknown>[] {
  return OPTION_ENTRIES.map(([, row]) => row).filter((row) => row.on.includes(command) && row.onlyFor === undefined)
}

/** `--max-pages` is `maxPages` in a config file; `--no-robots` is `robots: false`. */
export function configKeyOf(row: OptionRow<unknown>): string {
  return row.flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `--max-pages` is `SPOOR_MAX_PAGES`; `--no-robots` is `SPOOR_NO_ROBOTS`. */
export function envNameOf(row: OptionRow<unknown>): string {
  return `SPOOR_${row.negated ? 'NO_' : ''}${row.flag.replaceAll('-', '_').toUpperCase()}`
}

/** What people write: `--depth`, `--no-robots`. */
export function flagOf(row: OptionRow<unknown>): string {
  return `--${row.negated ? 'no-' : ''}${row.flag}`
}
