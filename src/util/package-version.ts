/** The version of this package, and how it introduces itself to servers. */

import { createRequire } from 'node:module'

interface Manifest {
  readonly version: string
  readonly homepage: string
}

let manifest: Manifest | undefined

function read(): Manifest {
  return (manifest ??= createRequire(import.meta.url)('../../package.json') as Manifest)
}

export function packageVersion(): string {
  return read().version
}

/** The honest User-Agent: who asks, and where to read about it. */
export function userAgentOf(): string {
  return `spoor/${read().version} (+${read().homepage})`
}
