/** Reading and joining header lists. */

import type { HeaderList } from './contract.ts'

/** The first value of a header, or undefined. `name` in lower case. */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  for (const [key, value] of headers) if (key === name) return value
  return undefined
}

/** All values of a header in wire order. `name` in lower case. */
export function headersAll(headers: HeaderList, name: string): readonly string[] {
  return headers.filter(([key]) => key === name).map(([, value]) => value)
}

/** Members of a comma-separated header over all its fields: trimmed, lower case, without the empty ones. */
export function headerTokens(headers: HeaderList, name: string): readonly string[] {
  return headersAll(headers, name)
    .flatMap((value) => value.split(','))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '')
}
