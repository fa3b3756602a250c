/** What the command answers about one URL: its canonical form, fingerprint and host, or why it has none. */

import { fingerprintOf, parseHttpUrl } from './canonical.ts'

export interface CanonAnswer {
  readonly input: string
  readonly canonical?: string
  readonly fingerprint?: string
  readonly host?: string
  readonly error?: string
}

/** Longest URL that is named, in characters; crawls have a bound of their own. */
const MAX_CANON_BYTES = 1024 * 1024

export interface CanonOptions {
  readonly base?: string | undefined
  /** Default 1 MiB. */
  readonly maxUrlBytes?: number | undefined
  /** Optional rules of identity; default none. */
  readonly identityOf?: ((canonical: string) => string) | undefined
}

export function canonAnswer(input: string, options: CanonOptions = {}): CanonAnswer {
  const parsed = parseHttpUrl(input, { base: options.base, maxUrlBytes: options.maxUrlBytes ?? MAX_CANON_BYTES })
  if (!parsed.ok) return { input, error: parsed.problem }
  const canonical = options.identityOf?.(parsed.canonical) ?? parsed.canonical
  return { input, canonical, fingerprint: fingerprintOf(canonical), host: parsed.hostKey }
}
