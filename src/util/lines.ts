/** Text streams as lines: any end of line, bounded length, no more in memory than a chunk and the longest line. */

export interface Line {
  /** Without its end. Cut at `maxLineChars` when `isCut`. */
  readonly text: string
  /** Counted from 1. */
  readonly number: number
  readonly isCut: boolean
}

export interface LineSplitter {
  /** The lines that this piece of text ends. */
  push(text: string): Line[]
  /** What is left after the last end of line. */
  end(): Line[]
}

/** Ends are LF, CRLF and CR. What is beyond `maxLineChars` of a line is dropped as it comes. */
export function createLineSplitter(maxLineChars: number): LineSplitter {
  let rest = ''
  let number = 0
  let isCut = false
  let hasRest = false
  let afterCr = false

  const add = (part: string): void => {
    const room = maxLineChars - rest.length
    if (part.length > room) isCut = true
    rest += part.length > room ? part.slice(0, room) : part
    hasRest = true
  }
  const take = (): Line => {
    number += 1
    const line = { text: rest, number, isCut }
    rest = ''
    isCut = false
    hasRest = false
    return line
  }
  const push = (text: string): Line[] => {
    const lines: Line[] = []
    let start = afterCr && text.startsWith('\n') ? 1 : 0
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = start
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      add(text.slice(start, end.index))
      lines.push(take())
      start = ends.lastIndex
    }
    if (start < text.length) add(text.slice(start))
    if (text !== '') afterCr = text.endsWith('\r')
    return lines
  }
  return { push, end: () => (hasRest ? [take()] : []) }
}
