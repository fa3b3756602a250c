/** Seed files that are tables: `rank,domain` lists, and CSV with a column of URLs. Pure. */

/** Where the URL of a row is. */
export interface SeedTable {
  readonly delimiter: string
  /** Index of the column. */
  readonly column: number
  /** The first line names the columns. */
  readonly hasHeader: boolean
}

const DELIMITERS = [',', ';', '\t'] as const

/** Names of a column of URLs, best first. */
const COLUMN_NAMES = [
  'url',
  'uri',
  'link',
  'href',
  'loc',
  'address',
  'page',
  'website',
  'site',
  'domain',
  'hostname',
  'host',
  'origin',
  'rootdomain',
]

/**
 * Is this first line that of a table? `isTable` says that the file's name ends in .csv or .tsv; then the first cell that
 * looks like a URL or a domain gives the column. A URL may hold commas: a line that begins with one is no row.
 */
export function detectSeedTable(line: string, isTable: boolean): SeedTable | undefined {
  const candidates = DELIMITERS.filter((delimiter) => line.includes(delimiter))
  for (const delimiter of candidates) {
    const cells = splitRow(line, delimiter).map((cell) => cell.trim())
    const named = namedColumn(cells)
    if (named !== -1) return { delimiter, column: named, hasHeader: true }
    if (isRanked(cells)) return { delimiter, column: 1, hasHeader: false }
  }
  if (!isTable) return undefined
  // a table of one column: a comma is part of its URLs
  const delimiter = candidates[0] ?? '\n'
  const cells = splitRow(line, delimiter).map((cell) => cell.trim())
  const only = COLUMN_NAMES.includes(nameOf(cells[0] ?? ''))
  return { delimiter, column: only ? 0 : Math.max(0, cells.findIndex(looksLikeUrl)), hasHeader: only }
}

function namedColumn(cells: readonly string[]): number {
  if (cells.some(looksLikeUrl)) return -1
  const names = cells.map(nameOf)
  for (const name of COLUMN_NAMES) {
    const column = names.indexOf(name)
    if (column !== -1) return column
  }
  return -1
}

function nameOf(cell: string): string {
  return cell.toLowerCase().replace(/[\s_-]/g, '')
}

function isRanked([rank, site]: readonly string[]): boolean {
  return rank !== undefined && site !== undefined && /^\d+$/.test(rank) && looksLikeUrl(site)
}

function looksLikeUrl(cell: string): boolean {
  return /^https?:\/\//i.test(cell) || /^[^\s/.:]+(?:\.[^\s/.:]+)+(?:[:/]\S*)?$/.test(cell)
}

/** The cells of one line by RFC 4180; a quote that is not closed reaches to the end. */
export function splitRow(line: string, delimiter: string): string[] {
  if (!line.includes('"')) return line.split(delimiter)
  const cells: string[] = []
  let at = 0
  while (at <= line.length) {
    const { cell, end } = line[at] === '"' ? quotedCell(line, at, delimiter) : plainCell(line, at, delimiter)
    cells.push(cell)
    at = end + 1
  }
  return cells
}

interface CellRead {
  readonly cell: string
  /** Of the delimiter after it, or of the end of the line. */
  readonly end: number
}

function plainCell(line: string, start: number, delimiter: string): CellRead {
  const found = line.indexOf(delimiter, start)
  const end = found === -1 ? line.length : found
  return { cell: line.slice(start, end), end }
}

function quotedCell(line: string, start: number, delimiter: string): CellRead {
  const parts: string[] = []
  let from = start + 1
  for (;;) {
    const quote = line.indexOf('"', from)
    if (quote === -1) return { cell: parts.join('') + line.slice(from), end: line.length }
    parts.push(line.slice(from, quote))
    if (line[quote + 1] !== '"') {
      const rest = plainCell(line, quote + 1, delimiter)
      return { cell: parts.join('') + rest.cell, end: rest.end }
    }
    parts.push('"')
    from = quote + 2
  }
}

/** Does a cell of this line go on in the next one? */
export function isOpenRow(line: string): boolean {
  let quotes = 0
  for (let at = line.indexOf('"'); at !== -1; at = line.indexOf('"', at + 1)) quotes += 1
  return quotes % 2 === 1
}
