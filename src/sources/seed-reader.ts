/** The lines of one seed file as seeds: tells by the first of them what kind of file it is. Pure. */

import type { Line } from '../util/lines.ts'
import type { SeedLine } from './contract.ts'
import { type SeedTable, detectSeedTable, isOpenRow, splitRow } from './csv-seeds.ts'
import { type ParsedSeed, parseSeedJson, parseSeedUrl, shown } from './seed-line.ts'

export interface SeedReader {
  /** None for a blank, a comment, a header, or a row that goes on in the next line; several when it never ended. */
  read(line: Line): readonly SeedLine[]
  /** What was held back at the end of the file. */
  end(): readonly SeedLine[]
}

/** A quoted cell over more lines or characters than this is a quote that nobody closed. */
const MAX_ROW_LINES = 100
const MAX_ROW_CHARS = 64 * 1024

/** `name` is shown in problems; its ending tells a table from a list where the first line does not. */
export function createSeedReader(name: string): SeedReader {
  const isTableName = /\.(?:csv|tsv)(?:\.gz)?$/i.test(name)
  let table: SeedTable | undefined
  let isFirst = true
  let open: Line[] = []
  let openChars = 0

  const problemAt = (line: number, problem: string): SeedLine => ({
    problem: `${name}:${String(line)}: ${problem}`,
    line,
  })
  const parse = (text: string, line: number): SeedLine => {
    const parsed = parseText(text, table)
    return 'problem' in parsed ? problemAt(line, parsed.problem) : { ...parsed, line }
  }
  /** True: this line is not a seed but the table's header. */
  const begin = (text: string): boolean => {
    isFirst = false
    table = text.startsWith('{') ? undefined : detectSeedTable(text, isTableName)
    return table?.hasHeader === true
  }
  /** Each held line as a row of its own: nothing is lost to a stray quote. */
  const giveUp = (): readonly SeedLine[] => {
    const lines = open
    open = []
    openChars = 0
    return lines.flatMap(({ text, number }) => (isPassedOver(text) ? [] : [parse(text.trim(), number)]))
  }
  const readRow = (line: Line): readonly SeedLine[] => {
    const closes = open.length > 0 ? isOpenRow(line.text) : !isOpenRow(line.text)
    open.push(line)
    openChars += line.text.length
    if (!closes) return open.length < MAX_ROW_LINES && openChars < MAX_ROW_CHARS ? [] : giveUp()
    const row = open.map(({ text }) => text).join('\n')
    const number = open[0]?.number ?? line.number
    open = []
    openChars = 0
    return [parse(row.trim(), number)]
  }
  const read = (line: Line): readonly SeedLine[] => {
    const text = line.text.trim()
    if (open.length === 0 && isPassedOver(text)) return []
    if (line.isCut) return [...giveUp(), problemAt(line.number, `the line is too long, it begins ${shown(text)}`)]
    if (isFirst && begin(text)) return []
    return table === undefined ? [parse(text, line.number)] : readRow(line)
  }
  return { read, end: giveUp }
}

function isPassedOver(text: string): boolean {
  return text.trim() === '' || text.trimStart().startsWith('#')
}

function parseText(text: string, table: SeedTable | undefined): ParsedSeed {
  if (text.startsWith('{')) return parseSeedJson(text)
  if (table === undefined || isWholeUrl(text)) return parseSeedUrl(text)
  const cell = splitRow(text, table.delimiter)[table.column]?.trim() ?? ''
  return cell === ''
    ? { problem: `expected a URL in column ${String(table.column + 1)}, found ${shown(text)}` }
    : parseSeedUrl(cell)
}

/** Lists that people have put together hold plain lines among the rows. */
function isWholeUrl(text: string): boolean {
  return /^https?:\/\/[^\s",;]+$/i.test(text)
}
