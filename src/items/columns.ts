/** The columns of a table whose rows are not known beforehand: the page's own first, then others as they are met. */

import type { Cell, Row } from './flatten.ts'
import { PAGE_COLUMNS } from './page-item.ts'

/** Columns that a crawl can bring forth; what has no column any more is kept as JSON text in `OTHER_COLUMN`. */
export const MAX_COLUMNS = 1000
export const OTHER_COLUMN = '_more'

export interface ColumnSet {
  /** Met so far, in the order in which they were met. */
  readonly met: readonly string[]
  /** In the order of the table. */
  readonly columns: readonly string[]
  /** Takes note of a row. True: it brings columns that were not there. */
  meet(row: Row): boolean
  /** Cells in the order of `columns`; undefined where the row has none. */
  cells(row: Row, columns: readonly string[]): (Cell | undefined)[]
}

export function createColumnSet(known: readonly string[] = []): ColumnSet {
  const names = new Set(known)
  const meet = (row: Row): boolean => {
    const before = names.size
    for (const path of row.keys()) {
      if (names.has(path)) continue
      names.add(names.size < MAX_COLUMNS ? path : OTHER_COLUMN)
    }
    return names.size > before
  }
  return {
    get met() {
      return [...names]
    },
    get columns() {
      return orderColumns([...names])
    },
    meet,
    cells: (row, columns) => {
      const cells = columns.map((column) => row.get(column))
      const other = columns.indexOf(OTHER_COLUMN)
      if (other !== -1) cells[other] = otherCells(row, new Set(columns))
      return cells
    },
  }
}

/** A table that nothing was written to has the columns of a page. */
function orderColumns(names: readonly string[]): readonly string[] {
  if (names.length === 0) return PAGE_COLUMNS
  const present = new Set(names)
  const own: readonly string[] = PAGE_COLUMNS
  const rest = names.filter((name) => name !== OTHER_COLUMN && !own.includes(name))
  return [...own.filter((name) => present.has(name)), ...rest, ...(present.has(OTHER_COLUMN) ? [OTHER_COLUMN] : [])]
}

function otherCells(row: Row, columns: ReadonlySet<string>): Cell | undefined {
  const rest = [...row].filter(([path]) => !columns.has(path) || path === OTHER_COLUMN)
  return rest.length === 0 ? undefined : JSON.stringify(Object.fromEntries(rest))
}
