/** Dates of sitemaps and feeds: W3C's profile of ISO 8601, and those of RFC 822 with what people make of them. Pure. */

const W3C =
  /^(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/i
const RFC_822 =
  /^(?:[a-z]{2,9}\.?,?\s+)?(\d\d?)[\s-]([a-z]{3,9})\.?[\s-](\d{4}|\d\d)(?:\s+(\d\d?):(\d\d)(?::(\d\d))?\s*([a-z]{1,4}|[+-]\d\d:?\d\d)?)?$/i

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const
/** Of RFC 822, in hours; single letters are not to be relied on and mean UTC. */
const ZONES: Readonly<Record<string, number>> = {
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
}
const MAX_CHARS = 64

/** A day `2024-05-01`, or an instant `2024-05-01T10:00:00Z`; without a zone it is taken as UTC. Undefined: no date. */
export function parseSitemapDate(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > MAX_CHARS) return undefined
  return parseW3c(trimmed) ?? parseRfc822(trimmed)
}

function parseW3c(text: string): string | undefined {
  const found = W3C.exec(text)
  if (found === null) return undefined
  const [, year = '', month = '1', day = '1', hour, minute = '0', second = '0', fraction = '0', zone = 'Z'] = found
  const date = [Number(year), Number(month), Number(day)] as const
  if (hour === undefined) return formatDay(date)
  const time = [Number(hour), Number(minute), Number(second)] as const
  return formatInstant({ date, time, ms: Math.floor(Number(`0.${fraction}`) * 1000), zoneMinutes: zoneOf(zone) })
}

function parseRfc822(text: string): string | undefined {
  const found = RFC_822.exec(text)
  if (found === null) return undefined
  const [, day = '', monthName = '', yearText = '', hour, minute = '0', second = '0', zone = 'GMT'] = found
  const month = MONTHS.findIndex((name) => monthName.toLowerCase().startsWith(name)) + 1
  const date = [fullYear(yearText), month, Number(day)] as const
  if (hour === undefined) return formatDay(date)
  const time = [Number(hour), Number(minute), Number(second)] as const
  return formatInstant({ date, time, ms: 0, zoneMinutes: zoneOf(zone) })
}

/** Two digits as RFC 2822 reads them. */
function fullYear(text: string): number {
  const year = Number(text)
  if (text.length > 2) return year
  return year < 50 ? 2000 + year : 1900 + year
}

function zoneOf(zone: string): number {
  const found = /^([+-])(\d\d):?(\d\d)?$/.exec(zone)
  if (found === null) return (ZONES[zone.toUpperCase()] ?? 0) * 60
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? '0')
  return found[1] === '-' ? -minutes : minutes
}

type Triple = readonly [number, number, number]

function formatDay([year, month, day]: Triple): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day))
  const isReal = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isReal ? date.toISOString().slice(0, 10) : undefined
}

interface Instant {
  readonly date: Triple
  readonly time: Triple
  readonly ms: number
  readonly zoneMinutes: number
}

function formatInstant({ date, time, ms, zoneMinutes }: Instant): string | undefined {
  const [hour, minute, second] = time
  if (formatDay(date) === undefined || hour > 24 || minute > 59 || second > 60) return undefined
  const [year, month, day] = date
  const instant = new Date(Date.UTC(year, month - 1, day, hour, minute - zoneMinutes, second, ms))
  return instant.toISOString().replace('.000Z', 'Z')
}
