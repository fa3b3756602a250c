/** Reading and joining header lists. */

import type { HeaderList } from './contract.ts'

/** The first value of a header, or undefined. `name` in lower case. */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  for (const header of headers) if (header[0] === name) return header[1]
  return undefined
}

/** All values of a header in wire order. `name` in lower case. */
export function headersAll(headers: HeaderList, name: string): readonly string[] {
  let values: string[] | undefined
  for (const header of headers) if (header[0] === name) (values ??= []).push(header[1])
  return values ?? NONE
}

const NONE: readonly string[] = []

/** Members of a comma-separated header over all its fields: trimmed, lower case, without the empty ones. */
export function headerTokens(headers: HeaderList, name: string): readonly string[] {
  return headersAll(headers, name)
    .flatMap((value) => value.split(','))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '')
}
