/** The completion script of bash. */

import { type CompletedCommand, quoted } from './words.ts'

export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ')
  return `# bash completion of spoor: source <(spoor completion bash)
_spoor() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} flags= words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(`${names} help --help --version`)} -- "$cur"))
    return
  fi
  case \${COMP_WORDS[1]} in
    help) words=${quoted(names)} ;;
${commands.map(commandCase).join('\n')}
  esac
  case "\${COMP_WORDS[1]} $prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -o default -F _spoor spoor`
}

function commandCase({ name, flags, words }: CompletedCommand): string {
  const all = flags.flatMap(({ flag, short }) => (short === undefined ? [flag] : [flag, `-${short}`]))
  return `    ${name}) flags=${quoted(all.join(' '))} words=${quoted(words.join(' '))} ;;`
}

/** What stands behind a flag with a value: its words, or what bash completes by itself. */
function valueCases({ name, flags }: CompletedCommand): string[] {
  const valued = flags.filter(({ takes, optional }) => takes !== 'none' && !optional)
  return valued.map(({ flag, short, words }) => {
    const names = [flag, ...(short === undefined ? [] : [`-${short}`])].map((one) => quoted(`${name} ${one}`)).join('|')
    const reply =
      words.length === 0 ? 'return' : `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$cur")); return`
    return `    ${names}) ${reply} ;;`
  })
}
