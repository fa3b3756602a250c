/** What a shell completes, out of the tables of commands and options. */

import { flagOf, rowsOf } from '../../config/options.ts'
import type { CommandSpec } from '../command.ts'

export interface CompletedFlag {
  /** `--depth`. */
  readonly flag: string
  /** One letter, without its dash. */
  readonly short?: string
  readonly doc: string
  /** `none`: a switch; `words`: one of `words`; `file`: a file or folder; `text`: what cannot be completed. */
  readonly takes: 'none' | 'words' | 'file' | 'text'
  /** A value may be left out; given, it stands behind `=`. */
  readonly optional: boolean
  readonly many: boolean
  readonly placeholder: string
  readonly words: readonly string[]
}

export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly flags: readonly CompletedFlag[]
  /** What its first argument may be; none: a file. */
  readonly words: readonly string[]
}

export function completionWords(commands: readonly CommandSpec[]): readonly CompletedCommand[] {
  return commands.map(({ name, summary, positionals }) => ({
    name,
    summary,
    words: positionals.choices ?? [],
    flags: rowsOf(name).map((row) => {
      const words = /^[a-z\d]+(?:\|[a-z\d]+)+$/.test(row.placeholder) ? row.placeholder.split('|') : []
      const isFile = /FILE|DIR|PATH/.test(row.placeholder)
      return {
        flag: flagOf(row),
        ...(row.short === undefined ? {} : { short: row.short }),
        doc: row.doc.split(/(?<=[.:]) /)[0] ?? row.doc,
        takes: row.takes === 'none' ? 'none' : words.length > 0 ? 'words' : isFile ? 'file' : 'text',
        optional: row.takes === 'optional',
        many: row.many,
        placeholder: row.placeholder,
        words,
      }
    }),
  }))
}

/** In single quotes, for any of the three shells. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
