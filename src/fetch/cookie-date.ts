/** Dates in cookies, by the forgiving algorithm of RFC 6265, 5.1.1. */

const MONTHS: readonly string[] = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DELIMITERS = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/
// Digits may be followed by anything that is no digit.
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)/
const DAY = /^(\d{1,2})(?:\D|$)/
const YEAR = /^(\d{2,4})(?:\D|$)/

interface Parts {
  time?: readonly [hour: number, minute: number, second: number]
  day?: number
  month?: number
  year?: number
}

/** Milliseconds since the epoch, or undefined for text that is no date and for dates that do not exist. */
export function parseCookieDate(text: string): number | undefined {
  const parts: Parts = {}
  for (const token of text.slice(0, 256).split(DELIMITERS)) take(parts, token)
  const { time, day, month, year } = parts
  if (time === undefined || day === undefined || month === undefined || year === undefined) return undefined
  const date = new Date(Date.UTC(year, month, day, ...time))
  // A field out of its range moves those above it.
  const found = [date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
  const exists = [month, day, ...time].every((value, at) => value === found[at])
  return exists && year >= 1601 ? date.getTime() : undefined
}

/** The first token of each kind counts. */
function take(parts: Parts, token: string): void {
  if (parts.time === undefined) {
    const time = TIME.exec(token)
    if (time !== null) {
      parts.time = [Number(time[1]), Number(time[2]), Number(time[3])]
      return
    }
  }
  if (parts.day === undefined) {
    const day = DAY.exec(token)
    if (day !== null) {
      parts.day = Number(day[1])
      return
    }
  }
  const month = MONTHS.indexOf(token.slice(0, 3).toLowerCase())
  if (parts.month === undefined && month !== -1) parts.month = month
  else if (parts.year === undefined) takeYear(parts, YEAR.exec(token)?.[1])
}

function takeYear(parts: Parts, digits: string | undefined): void {
  if (digits === undefined) return
  const year = Number(digits)
  parts.year = year >= 70 && year <= 99 ? year + 1900 : year >= 0 && year <= 69 ? year + 2000 : year
}
