/** The texts of `spoor`, `spoor --help` and `spoor COMMAND --help`, made from the tables of commands and options. */

import type { OptionRow } from '../config/option-row.ts'
import { OPTION_GROUPS } from '../config/option-row.ts'
import { flagOf, rowsOf } from '../config/options.ts'
import type { CommandSpec } from './command.ts'
import { COMMANDS } from './command-table.ts'
import { columns, wrap } from './text.ts'

const WIDTH = 100
const INDENT = '  '
const OPTION_COLUMN = 28

/** What somebody sees who types `spoor` and nothing else. */
export function shortHelp(version: string): string {
  return [
    `spoor ${version}: a web crawler that never loses a page, never fetches one twice and never hurts a host.`,
    '',
    ...columns([
      ['  spoor demo', 'crawl a small site that comes with it, here on your machine'],
      ['  spoor crawl https://example.com/ -o pages.jsonl', 'crawl a site; run it again to go on'],
      ['  spoor why https://example.com/cart', 'why a page was or was not fetched'],
    ]),
    '',
    'spoor --help lists all commands, spoor COMMAND --help explains one.',
  ].join('\n')
}

export function mainHelp(version: string): string {
  return [
    `spoor ${version}: a web crawler that never loses a page, never fetches one twice and never hurts a host.`,
    '',
    'Usage: spoor COMMAND [arguments] [options]',
    '',
    'Commands',
    ...columns(COMMANDS.map((command) => [`${INDENT}${command.name}`, command.summary])),
    '',
    'spoor COMMAND --help explains one, with examples. spoor --version prints the version.',
    ...footer(),
  ].join('\n')
}

export function commandHelp(spec: CommandSpec): string {
  const lines = [`spoor ${spec.name}: ${spec.summary}`, '']
  lines.push(...spec.usage.map((usage, index) => `${index === 0 ? 'Usage:' : '      '} spoor ${spec.name} ${usage}`))
  for (const paragraph of spec.details) lines.push('', ...wrap(paragraph, WIDTH))
  lines.push('', 'Examples')
  for (const { command, does } of spec.examples) lines.push(`${INDENT}${command}`, `${INDENT}${INDENT}${does}`)
  for (const group of OPTION_GROUPS) {
    const rows = rowsOf(spec.name).filter((row) => row.group === group)
    if (rows.length > 0) lines.push('', group, ...rows.flatMap(optionHelp))
  }
  return [...lines, ...footer()].join('\n')
}

function footer(): string[] {
  return [
    '',
    ...wrap(
      'Durations are written 250ms, 1.5s, 2m, 1h, 30d (a bare number is seconds), sizes 64kb, 10mb. An option may also come from the environment (SPOOR_MAX_PAGES for --max-pages) or from spoor.config.ts, .mjs, .js or .json (maxPages); a flag wins over the environment, and that over the file.',
      WIDTH,
    ),
    '',
    ...wrap(
      'Exit status: 0 done; 1 pages failed, or a fault (the last line says which); 2 wrong usage or configuration; 3 the store cannot be opened; 130 interrupted, the same command goes on.',
      WIDTH,
    ),
  ]
}

function optionHelp(row: OptionRow<unknown>): string[] {
  const short = row.short === undefined ? '' : `-${row.short}, `
  const name = `${INDENT}${short}${flagOf(row)}${placeholderOf(row)}`
  const text = wrap(describe(row), WIDTH - OPTION_COLUMN)
  const indent = ' '.repeat(OPTION_COLUMN)
  const [first = '', ...rest] = text
  if (name.length + 2 > OPTION_COLUMN) return [name, ...text.map((line) => indent + line)]
  return [name.padEnd(OPTION_COLUMN) + first, ...rest.map((line) => indent + line)]
}

function placeholderOf(row: OptionRow<unknown>): string {
  if (row.takes === 'none') return ''
  return row.takes === 'optional' ? `[=${row.placeholder}]` : ` ${row.placeholder}`
}

function describe(row: OptionRow<unknown>): string {
  const notes = [
    ...(row.many ? ['May be given several times.'] : []),
    ...(row.defaultText === undefined ? [] : [`Default: ${row.defaultText}.`]),
  ]
  return [row.doc, ...notes].join(' ')
}
