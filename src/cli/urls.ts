/** URLs that people give as arguments: checked before anything is sent. */

import { configError, shown } from '../config/given.ts'
import { urlOf } from '../config/parse.ts'

export function isHttpUrl(text: string): boolean {
  const url = urlOf(text)
  return url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')
}

/** Throws CONFIG_INVALID with what was expected, and with a guess at what was meant. */
export function checkUrl(text: string): string {
  if (isHttpUrl(text)) return text
  const found = urlOf(text)
  const scheme = found !== undefined && /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text)
  const guess = `https://${text.replace(/^\/+/, '')}`
  const bare = !scheme && !text.includes('://') && /^[^\s/]+[.:]/.test(text)
  const hint = bare && isHttpUrl(guess) ? `; did you mean ${guess}?` : ''
  const what = scheme ? ` (this one is ${found.protocol})` : ''
  throw configError(`expected an http or https URL${what}, found ${shown(text)}${hint}`)
}
