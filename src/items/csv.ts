/** CSV by RFC 4180 with a header: a column met after the header was written makes the file outdated, never the row poorer. */

import { type ColumnSet, createColumnSet } from './columns.ts'
import type { StoredItem } from './contract.ts'
import { type EncoderStart, type ItemEncoder, NO_BYTES } from './encoder.ts'
import { type Cell, type Row, flattenItem, parseItem } from './flatten.ts'

interface CsvLayout {
  /** Of the header that stands in the file; none: it is not written yet. */
  readonly header?: readonly string[]
  readonly met: readonly string[]
}

/**
 * Values are written as they are: a cell that begins with `=` stays so, since an export must give back what was found.
 * Lists are JSON text, null and what is missing are empty.
 */
export function createCsvEncoder({ layout, like }: EncoderStart = {}): ItemEncoder {
  const begun = parseLayout(layout)
  const set = createColumnSet(begun?.met ?? parseLayout(like)?.met)
  let header = begun?.header
  const lacksColumns = (): boolean => {
    const present = new Set(header)
    return header !== undefined && set.met.some((column) => !present.has(column))
  }
  let outdated = lacksColumns()

  const encode = (items: readonly StoredItem[]): Uint8Array => {
    if (items.length === 0) return NO_BYTES
    const rows = items.map(({ json }) => flattenItem(parseItem(json)))
    const added = rows.filter((row) => set.meet(row)).length > 0
    const first = header === undefined
    header ??= set.columns
    if (added) outdated = lacksColumns()
    return Buffer.from(formatRows(rows, { set, header, first }))
  }
  const end = (): Uint8Array => {
    if (header !== undefined) return NO_BYTES
    header = set.columns
    return Buffer.from(formatLine(header))
  }
  const currentLayout = (): CsvLayout => ({ met: set.met, ...(header === undefined ? {} : { header }) })
  return { encode, outdated: () => outdated, layout: () => JSON.stringify(currentLayout()), end }
}

function formatRows(
  rows: readonly Row[],
  { set, header, first }: { set: ColumnSet; header: readonly string[]; first: boolean },
): string {
  const lines = rows.map((row) => formatLine(set.cells(row, header)))
  return (first ? formatLine(header) : '') + lines.join('')
}

function formatLine(cells: readonly (Cell | undefined)[]): string {
  return `${cells.map(formatCell).join(',')}\n`
}

function formatCell(cell: Cell | undefined): string {
  if (cell === undefined || cell === null) return ''
  const text = String(cell)
  return /["\r\n,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function parseLayout(text: string | undefined): CsvLayout | undefined {
  return text === undefined || text === '' ? undefined : (JSON.parse(text) as CsvLayout)
}
