/** HTTP dates in the three forms that a recipient must read (RFC 9110, 5.6.7). */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun'
const LONG_DAYS = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday'
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const FORMS = [
  new RegExp(String.raw`^(?:${DAYS}), (?<day>\d\d) (?<month>\w{3}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^(?:${LONG_DAYS}), (?<day>\d\d)-(?<month>\w{3})-(?<shortYear>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^(?:${DAYS}) (?<month>\w{3}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
]
/** RFC 9110: a two-digit year that looks more than 50 years ahead is of the century before. */
const MAX_YEARS_AHEAD = 50

/**
 * Milliseconds since the epoch, or undefined when `value` is none of the three forms or no day of the calendar. The name
 * of the weekday must be one, but need not be the right one. `nowMs` places two-digit years.
 */
export function parseHttpDate(value: string, nowMs: number): number | undefined {
  if (value.length > 40) return undefined
  for (const form of FORMS) {
    const groups = form.exec(value)?.groups
    if (groups !== undefined) return instantOf(groups, nowMs)
  }
  return undefined
}

function instantOf(groups: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const month = MONTHS.indexOf(groups['month'] ?? '')
  const day = Number(groups['day'])
  const [hour, minute, second] = [Number(groups['hour']), Number(groups['minute']), Number(groups['second'])]
  if (month === -1 || hour > 23 || minute > 59 || second > 59) return undefined
  const year = groups['year'] === undefined ? longYearOf(Number(groups['shortYear']), nowMs) : Number(groups['year'])
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  date.setUTCHours(hour, minute, second)
  return date.getUTCDate() === day && date.getUTCMonth() === month ? date.getTime() : undefined
}

function longYearOf(shortYear: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + shortYear
  return year > thisYear + MAX_YEARS_AHEAD ? year - 100 : year
}
