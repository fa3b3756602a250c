/** Numbers and instants as people read them. */

const SIZES = ['B', 'KB', 'MB', 'GB', 'TB'] as const

export const count = (value: number): string => Math.round(value).toLocaleString('en')

export const rate = (value: number): string => (value < 10 ? value.toFixed(1) : count(value))

export function bytes(value: number): string {
  let amount = value
  let unit = 0
  while (amount >= 999.5 && unit < SIZES.length - 1) {
    amount /= 1024
    unit++
  }
  return `${amount.toFixed(unit === 0 || amount >= 99.95 ? 0 : 1)} ${SIZES[unit] ?? ''}`
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`
}

export const timeOfDay = (atMs: number): string => new Date(atMs).toLocaleTimeString('en-GB')

/** Marks of writing direction and control characters of crawled text are shown, not obeyed. */
export function safeText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it takes out
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
}
