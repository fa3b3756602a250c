/** How the workers of one store tell each other whose cookies have changed, without reading all of them again. */

import type { StateStore } from '../core/state-store.ts'

export interface CookieNews {
  /** What to write together with the cookies of these domains. */
  tell(domains: readonly string[], nowMs: number): Readonly<Record<string, string>>
  /** Domains that others have written since the last look; `all` when there were more than they can name. */
  look(state: StateStore): Promise<readonly string[] | 'all'>
  /** Everything has just been read: only what comes from now on is news. Forgets workers of days ago. */
  begin(state: StateStore, nowMs: number): Promise<void>
}

/** Domains that a worker names; whoever looks after more changes reads everything. */
const MAX_NAMED = 100
const FORGOTTEN_AFTER_MS = 86_400_000

interface Told {
  /** Counts a worker's changes. */
  readonly last: number
  readonly atMs: number
  /** Of the latest changes, the oldest first. */
  readonly domains: readonly string[]
}

/** `prefix` begins the keys of all workers; `worker` names this one. */
export function createCookieNews({ prefix, worker }: { readonly prefix: string; readonly worker: string }): CookieNews {
  const own = prefix + worker
  const seen = new Map<string, number>()
  let last = 0
  let named: readonly string[] = []

  const othersOf = async (state: StateStore): Promise<readonly (readonly [key: string, told: Told])[]> => {
    const keys = (await state.keys(prefix)).filter((key) => key !== own)
    const values = await Promise.all(keys.map((key) => state.get(key)))
    return keys.map((key, at) => [key, parseTold(values[at])] as const)
  }
  return {
    tell: (domains, nowMs) => {
      last += domains.length
      named = [...named, ...domains].slice(-MAX_NAMED)
      return { [own]: JSON.stringify({ last, atMs: nowMs, domains: named }) }
    },
    look: async (state) => {
      const news = new Set<string>()
      let missed = false
      for (const [key, told] of await othersOf(state)) {
        const fresh = told.last - (seen.get(key) ?? 0)
        seen.set(key, told.last)
        if (fresh > told.domains.length) missed = true
        for (const domain of fresh > 0 ? told.domains.slice(-fresh) : []) news.add(domain)
      }
      return missed ? 'all' : [...news]
    },
    begin: async (state, nowMs) => {
      const old: Record<string, undefined> = {}
      for (const [key, told] of await othersOf(state)) {
        seen.set(key, told.last)
        if (nowMs - told.atMs > FORGOTTEN_AFTER_MS) old[key] = undefined
      }
      if (Object.keys(old).length > 0) await state.set(old)
    },
  }
}

/** What another version or a hand wrote is no news. */
function parseTold(value: string | undefined): Told {
  try {
    const { last, atMs, domains } = JSON.parse(value ?? '{}') as Partial<Record<keyof Told, unknown>>
    return {
      last: typeof last === 'number' ? last : 0,
      atMs: typeof atMs === 'number' ? atMs : 0,
      domains: Array.isArray(domains) ? domains.filter((domain) => typeof domain === 'string') : [],
    }
  } catch {
    return { last: 0, atMs: 0, domains: [] }
  }
}
