/** How fast a crawl goes, and when it will be done where that can be told. */

const WINDOW_MS = 10_000
/** Of a shorter stretch nobody can tell an end. */
const MIN_WINDOW_MS = 5000
const MARK_EVERY_MS = 500
/** An end that lies further off is none that anybody plans by. */
const MAX_ETA_MS = 30 * 86_400_000

export interface PaceMark {
  readonly atMs: number
  /** Pages settled. */
  readonly pages: number
  readonly pending: number
}

export interface Pace {
  note(mark: PaceMark): void
  /** Over the last seconds. */
  pagesPerSecond(): number
  /**
   * Milliseconds to the end. Undefined while the queue grows: nobody knows then. `maxPages`: the crawl ends there in any
   * case.
   */
  etaMs(maxPages?: number): number | undefined
}

export function createPace(): Pace {
  const marks: PaceMark[] = []
  let now: PaceMark | undefined

  function span(): { readonly first: PaceMark; readonly last: PaceMark; readonly ms: number } | undefined {
    const [first] = marks
    return first === undefined || now === undefined ? undefined : { first, last: now, ms: now.atMs - first.atMs }
  }

  function pagesPerSecond(): number {
    const found = span()
    if (found === undefined || found.ms <= 0) return 0
    return Math.max(0, ((found.last.pages - found.first.pages) * 1000) / found.ms)
  }

  return {
    note: (mark) => {
      now = mark
      const newest = marks.at(-1)
      if (newest === undefined || mark.atMs - newest.atMs >= MARK_EVERY_MS) marks.push(mark)
      while (marks.length > 2 && mark.atMs - (marks[1]?.atMs ?? mark.atMs) > WINDOW_MS) marks.shift()
    },
    pagesPerSecond,
    etaMs: (maxPages = Infinity) => {
      const found = span()
      if (found === undefined || found.ms < MIN_WINDOW_MS) return undefined
      const { first, last, ms } = found
      const perMs = pagesPerSecond() / 1000
      const ends = [
        (last.pending * ms) / Math.max(0, first.pending - last.pending),
        Math.max(0, maxPages - last.pages) / perMs,
      ]
      const eta = Math.min(...ends.filter((one) => one > 0))
      return eta <= MAX_ETA_MS ? eta : undefined
    },
  }
}
