/** `spoor completion SHELL`: the script that makes a shell complete commands, options and their values. */

import { configError, shown } from '../../config/given.ts'
import type { CommandSpec, RunCommand } from '../command.ts'
import { bashCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { completionWords } from '../completion/words.ts'
import { zshCompletion } from '../completion/zsh.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/** The commands are told, since this is one of them. */
export function completionOf(commands: readonly CommandSpec[]): RunCommand {
  return async ({ output, positionals }): Promise<ExitCode> => {
    const [shell = ''] = positionals
    if (!isShell(shell)) throw configError(`expected bash, zsh or fish, found ${shown(shell)}`)
    await output.write(`${SCRIPTS[shell](completionWords(commands))}\n`)
    return EXIT.done
  }
}

const isShell = (name: string): name is keyof typeof SCRIPTS => Object.hasOwn(SCRIPTS, name)
