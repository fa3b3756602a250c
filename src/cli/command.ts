/** What a command of the command line is. */

import type { CommandName } from '../config/option-row.ts'
import type { OptionKey, ResolvedOptions } from '../config/options.ts'
import type { CliHost } from './host.ts'
import type { ExitCode } from './exit.ts'
import type { Output } from './output.ts'

export interface CommandContext {
  readonly host: CliHost
  readonly output: Output
  readonly options: ResolvedOptions
  readonly positionals: readonly string[]
  /** Options that somebody gave a value, and where. */
  readonly givenBy: ReadonlyMap<OptionKey, string>
}

export type RunCommand = (context: CommandContext) => Promise<ExitCode>

export interface CommandSpec {
  readonly name: CommandName
  /** One line for the list of commands. */
  readonly summary: string
  /** What follows `spoor NAME`. */
  readonly usage: readonly string[]
  /** Paragraphs. */
  readonly details: readonly string[]
  readonly examples: readonly { readonly command: string; readonly does: string }[]
  /** How many arguments that are no options; and what they are, for messages. */
  readonly positionals: {
    readonly min: number
    readonly max: number
    readonly name: string
    /** The first one is one of these. */
    readonly choices?: readonly string[]
  }
  readonly load: () => Promise<RunCommand>
}
