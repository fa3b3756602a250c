/** Text for people: safe for a terminal whatever a page or a server wrote, cut to size, set in columns. */

import type { Terminal } from './host.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what it takes out
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** One line; control characters and marks of writing direction are shown as escapes. */
export function clean(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Several lines, as of a stack: each made safe, those after the first behind `indent`. */
export function cleanLines(text: string, indent: string): string {
  return text
    .split(/\r?\n/)
    .map((line, index) => (index === 0 ? clean(line) : indent + clean(line.trim())))
    .join('\n')
}

/** At most `width` characters, cut in the middle: both ends of a URL say something. */
export function cutMiddle(text: string, width: number): string {
  if (text.length <= width) return text
  if (width < 5) return text.slice(0, Math.max(0, width))
  const head = Math.ceil((width - 1) / 2)
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`
}

/** Lines with columns of equal width; columns named in `right` are set flush right. The last one is never padded. */
export function columns(rows: readonly (readonly string[])[], right: ReadonlySet<number> = new Set()): string[] {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length)
    })
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0
        if (right.has(index)) return cell.padStart(width)
        return index === row.length - 1 ? cell : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Words in lines of at most `width`, each after `indent`. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, indent + line]
}

/** `1 page`, `2 pages`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${count === 1 ? noun : many}`
}

/** `9 robots, 5 scope`, most first. */
export function tally(counts: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(counts)
    .filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0)
    .toSorted((a, b) => b[1] - a[1])
    .map(([name, count]) => `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${name}`)
    .join(', ')
}

export const total = (counts: Readonly<Record<string, number | undefined>>): number =>
  Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0)

/** Columns of a terminal, 80 when it does not say. */
export function widthOf(terminal: Terminal): number {
  const found = terminal.columns ?? 0
  return found > 0 ? found : 80
}
