/** The completion script of zsh. */

import { type CompletedCommand, type CompletedFlag, quoted } from './words.ts'

export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => quoted(`${name}:${plain(summary)}`)).join('\n    ')
  return `#compdef spoor
# zsh completion of spoor: spoor completion zsh > a folder of $fpath, as _spoor
_spoor() {
  local -a commands
  commands=(
    ${described}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
    help) _describe 'command' commands ;;
${commands.map(commandCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = _spoor ]; then _spoor "$@"; else compdef _spoor spoor; fi`
}

function commandCase({ name, flags, words }: CompletedCommand): string {
  const first = words.length === 0 ? [] : [quoted(`1:what:(${words.join(' ')})`)]
  const specs = [...flags.flatMap(flagSpecs), ...first, quoted('*:file:_files')]
  return `    ${name}) _arguments ${specs.map((spec) => `\\\n      ${spec}`).join(' ')} ;;`
}

function flagSpecs(flag: CompletedFlag): string[] {
  const names = [flag.flag, ...(flag.short === undefined ? [] : [`-${flag.short}`])]
  return names.map((name) => {
    const value =
      flag.takes === 'none' ? '' : `${flag.optional ? '::' : ':'}${plain(flag.placeholder)}:${actionOf(flag)}`
    const equals = flag.takes !== 'none' && name.startsWith('--') ? (flag.optional ? '=-' : '=') : ''
    return quoted(`${flag.many ? '*' : ''}${name}${equals}[${plain(flag.doc)}]${value}`)
  })
}

function actionOf({ takes, words }: CompletedFlag): string {
  if (takes === 'words') return `(${words.join(' ')})`
  return takes === 'file' ? '_files' : ' '
}

/** Without the characters that end a part of a specification. */
const plain = (text: string): string => text.replace(/[:[\]\\]/g, ' ')
