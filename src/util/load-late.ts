/** Packages that few crawls need are loaded when the first one does: each costs tens of milliseconds at every start. */

import { createRequire } from 'node:module'

const requireHere = createRequire(import.meta.url)

/** Answers the package, which must be CommonJS; the caller says what it exports. */
export function loadLate<Exports>(name: string): () => Exports {
  let loaded: Exports | undefined
  return () => (loaded ??= requireHere(name) as Exports)
}
