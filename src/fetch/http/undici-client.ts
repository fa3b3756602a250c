/** The one class of undici that is used here, loaded without the rest of it. */

import { createRequire } from 'node:module'
import type { Client } from 'undici'

const requireHere = createRequire(import.meta.url)

/** The whole package costs 40 ms at every start: its own `fetch`, caches, web sockets and mocks. */
let loaded: typeof Client | undefined

/** Loaded when the first connection is made: many a process makes none. */
export function undiciClient(): typeof Client {
  return (loaded ??= loadClient())
}

function loadClient(): typeof Client {
  try {
    return requireHere('undici/lib/dispatcher/client.js') as typeof Client
  } catch {
    // a version that has its files elsewhere
    return (requireHere('undici') as { readonly Client: typeof Client }).Client
  }
}
