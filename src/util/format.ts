/** Numbers as people read them. */

const SIZES = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** `512 B`, `4.1 MB`; units of 1024. */
export function formatBytes(bytes: number): string {
  let amount = bytes
  let unit = 0
  while (amount >= 999.5 && unit < SIZES.length - 1) {
    amount /= 1024
    unit += 1
  }
  const digits = unit === 0 || amount >= 99.95 ? 0 : 1
  return `${amount.toFixed(digits)} ${SIZES[unit] ?? ''}`
}

/** `0.3 s`, `12.4 s`, `2 min 5 s`, `3 h 12 min`, `2 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  const hours = Math.round(seconds / 3_600)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `1,234,567`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}
