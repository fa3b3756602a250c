/** What one row of the option table is, and the constructors of rows by kind of value. */

import { availableParallelism } from 'node:os'
import type { Bounds, Parsed } from './parse.ts'
import {
  formatDurationOption,
  formatSizeOption,
  parseBoolean,
  parseChoice,
  parseCount,
  parseDuration,
  parseSize,
  parseText,
} from './parse.ts'

/** Every command that reads options. Others of later versions join here. */
export const COMMAND_NAMES = [
  'crawl',
  'run',
  'status',
  'failures',
  'why',
  'export',
  'graph',
  'report',
  'verify',
  'dashboard',
  'clear',
  'cache',
  'fetch',
  'shell',
  'links',
  'canon',
  'robots',
  'sitemap',
  'demo',
  'init',
  'doctor',
  'completion',
] as const
export type CommandName = (typeof COMMAND_NAMES)[number]

/** Headings of `--help`, in this order. */
export const OPTION_GROUPS = [
  'What to crawl',
  'Limits',
  'Crawler traps',
  'Politeness',
  'Requests',
  'Rendering',
  'Cache',
  'Results',
  'Where it is kept',
  'Input',
  'General',
] as const
export type OptionGroup = (typeof OPTION_GROUPS)[number]

export interface OptionRow<T> {
  /** Long name without dashes: also the environment name in upper case and the key of the config file in camel case. */
  readonly flag: string
  readonly short?: string
  /** `none` is a switch; `optional` may stand alone. */
  readonly takes: 'none' | 'one' | 'optional'
  /** Of an optional value: whether the next argument is it, and not one of its own. */
  readonly takesNext: (raw: string) => boolean
  /** May be given several times; the value is the list. */
  readonly many: boolean
  /** What `--help` writes for the value. */
  readonly placeholder: string
  readonly default: T
  /** What `--help` says of the default, when it is more than the value. */
  readonly defaultText: string | undefined
  readonly group: OptionGroup
  readonly on: readonly CommandName[]
  /** One sentence for `--help`. */
  readonly doc: string
  /** Only these texts are carried out by this version; any other is refused. Undefined: all are. */
  readonly onlyFor: readonly string[] | undefined
  /** Its value is not shown in a message. */
  readonly secret?: true
  /** A switch that is on by default: people write `--no-FLAG`. */
  readonly negated: boolean
  readonly parse: (raw: string) => Parsed<unknown>
}

interface RowSpec {
  readonly flag: string
  readonly short?: string
  readonly group: OptionGroup
  readonly on: readonly CommandName[]
  readonly doc: string
  readonly defaultText?: string
  readonly onlyFor?: readonly string[]
  readonly secret?: true
}

interface RowShape<T> {
  readonly spec: RowSpec
  readonly placeholder: string
  readonly default: T
  readonly defaultText?: string | undefined
  readonly parse: (raw: string) => Parsed<unknown>
  readonly takes?: 'none' | 'one' | 'optional'
  readonly takesNext?: (raw: string) => boolean
  readonly many?: boolean
  readonly negated?: boolean
}

function row<T>(shape: RowShape<T>): OptionRow<T> {
  const { spec } = shape
  return {
    ...spec,
    takes: shape.takes ?? 'one',
    takesNext: shape.takesNext ?? (() => false),
    many: shape.many ?? false,
    placeholder: shape.placeholder,
    default: shape.default,
    defaultText: spec.defaultText ?? shape.defaultText,
    onlyFor: spec.onlyFor,
    negated: shape.negated ?? false,
    parse: shape.parse,
  }
}

type Default<D> = RowSpec & { readonly default: D }

/** Value in milliseconds. */
export function duration<const D extends number | undefined>(spec: Default<D> & Bounds): OptionRow<number | D> {
  return row<number | D>({
    spec,
    placeholder: 'DUR',
    default: spec.default,
    defaultText: spec.default === undefined ? undefined : formatDurationOption(spec.default),
    parse: (raw) => parseDuration(raw, spec),
  })
}

/** Value in bytes. */
export function size<const D extends number | undefined>(spec: Default<D> & Bounds): OptionRow<number | D> {
  return row<number | D>({
    spec,
    placeholder: 'SIZE',
    default: spec.default,
    defaultText: spec.default === undefined ? undefined : formatSizeOption(spec.default),
    parse: (raw) => parseSize(raw, spec),
  })
}

export function count<const D extends number | undefined>(spec: Default<D> & Bounds): OptionRow<number | D> {
  return row<number | D>({
    spec,
    placeholder: 'N',
    default: spec.default,
    defaultText: spec.default === undefined ? undefined : String(spec.default),
    parse: (raw) => parseCount(raw, spec),
  })
}

export function choice<const C extends string, const D extends C | undefined>(
  spec: Default<D> & { readonly choices: readonly C[] },
): OptionRow<C | D> {
  return row<C | D>({
    spec,
    placeholder: spec.choices.join('|'),
    default: spec.default,
    defaultText: spec.default,
    parse: (raw) => parseChoice(raw, spec.choices),
  })
}

/** A switch; `default: true` makes it one that people turn off with `--no-FLAG`. */
export function toggle(spec: Default<boolean>): OptionRow<boolean> {
  return row({
    spec,
    placeholder: '',
    default: spec.default,
    takes: 'none',
    negated: spec.default,
    parse: parseBoolean,
  })
}

export function text<const D extends string | undefined>(
  spec: Default<D> & { readonly placeholder: string; readonly parse?: (raw: string) => Parsed<string> },
): OptionRow<string | D> {
  return row<string | D>({
    spec,
    placeholder: spec.placeholder,
    default: spec.default,
    defaultText: spec.default,
    parse: spec.parse ?? parseText,
  })
}

/** May be given several times. */
export function list<E>(
  spec: RowSpec & { readonly placeholder: string; readonly parse: (raw: string) => Parsed<E> },
): OptionRow<readonly E[]> {
  return row<readonly E[]>({ spec, placeholder: spec.placeholder, default: [], many: true, parse: spec.parse })
}

/** `--dashboard` alone or with a value; the value alone is `''`. */
export function optionalText(
  spec: RowSpec & { readonly placeholder: string; readonly parse: (raw: string) => Parsed<string> },
): OptionRow<string | undefined> {
  return row<string | undefined>({
    spec,
    placeholder: spec.placeholder,
    default: undefined,
    takes: 'optional',
    takesNext: (raw) => /^(?:[^/\s]*:)?\d{1,5}$/.test(raw),
    parse: (raw) => (raw === '' ? { ok: true, value: '' } : spec.parse(raw)),
  })
}

/** `--render` alone or with one of several words; a yes or no stands for `alone` and for the default. */
export function optionalChoice<const C extends string, const D extends C>(
  spec: Default<D> & { readonly choices: readonly C[]; readonly alone: C },
): OptionRow<C> {
  return row<C>({
    spec,
    placeholder: spec.choices.join('|'),
    default: spec.default,
    defaultText: spec.default,
    takes: 'optional',
    takesNext: (raw) => (spec.choices as readonly string[]).includes(raw),
    parse: (raw) => {
      const named = parseChoice(raw, spec.choices)
      if (named.ok || raw === '') return named.ok ? named : { ok: true, value: spec.alone }
      const word = parseBoolean(raw)
      return word.ok ? { ok: true, value: word.value ? spec.alone : spec.default } : named
    },
  })
}

/** `--recrawl` alone or with a word that `parse` takes; alone it is parsed as ''. */
export function optionalWord(
  spec: Default<string> & { readonly placeholder: string; readonly parse: (raw: string) => Parsed<string> },
): OptionRow<string> {
  return row<string>({
    spec,
    placeholder: spec.placeholder,
    default: spec.default,
    defaultText: spec.default,
    takes: 'optional',
    takesNext: (raw) => raw !== '' && spec.parse(raw).ok,
    parse: spec.parse,
  })
}

/** A number of processes, or `auto` for the cores that there are. */
export function processCount(spec: Default<number> & { readonly max: number }): OptionRow<number> {
  return row<number>({
    spec,
    placeholder: 'N|auto',
    default: spec.default,
    defaultText: String(spec.default),
    parse: (raw) =>
      raw === 'auto' ? { ok: true, value: availableParallelism() } : parseCount(raw, { min: 1, max: spec.max }),
  })
}

/** The path of a file; none by default. */
export function optionalFile(spec: RowSpec): OptionRow<string | undefined> {
  return row<string | undefined>({ spec, placeholder: 'FILE', default: undefined, parse: parseText })
}
