/** The completion script of fish. */

import type { CompletedCommand, CompletedFlag } from './words.ts'

export function fishCompletion(commands: readonly CompletedCommand[]): string {
  return [
    '# fish completion of spoor: spoor completion fish > ~/.config/fish/completions/spoor.fish',
    ...commands.map(
      ({ name, summary }) => `complete -c spoor -n __fish_use_subcommand -f -a ${name} -d ${quotedForFish(summary)}`,
    ),
    ...commands.flatMap(commandLines),
  ].join('\n')
}

function commandLines({ name, words, flags }: CompletedCommand): string[] {
  const when = `complete -c spoor -n '__fish_seen_subcommand_from ${name}'`
  const first = words.length === 0 ? [] : [`${when} -f -a ${quotedForFish(words.join(' '))}`]
  return [...first, ...flags.map((flag) => `${when} ${flagPart(flag)}`)]
}

function flagPart({ flag, short, doc, takes, optional, words }: CompletedFlag): string {
  return [
    `-l ${flag.slice(2)}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(takes === 'none' || optional ? [] : [takes === 'file' ? '-r' : '-x']),
    ...(words.length === 0 ? [] : [`-a ${quotedForFish(words.join(' '))}`]),
    `-d ${quotedForFish(doc)}`,
  ].join(' ')
}

/** Between single quotes fish knows two escapes. */
const quotedForFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
