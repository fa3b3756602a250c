/** A URL that has not been put together: most links are known already, and are told by a hash of their pieces. */

/** Means `prefix + text.slice(from, to)`. Valid until whoever made it makes the next one. */
export interface UrlPieces {
  readonly prefix: string
  readonly text: string
  readonly from: number
  readonly to: number
}

export function joinPieces({ prefix, text, from, to }: UrlPieces): string {
  return prefix + text.slice(from, to)
}
