/** Where links may lead, relative to the seeds. */

import type * as SuffixList from 'tldts'
import { createCompactSet, type CompactSet } from '../util/compact-set.ts'
import { hostNameOf } from '../util/host-name.ts'
import { loadLate } from '../util/load-late.ts'
import type { UrlTest } from '../rules/contract.ts'
import type { Random } from '../util/random.ts'
import { hostKeyOf } from './canonical.ts'

const suffixList = loadLate<typeof SuffixList>('tldts')

export type ScopeKind = 'host' | 'domain' | 'prefix' | 'any'

export interface ScopeOptions {
  /**
   * `host`: the seeds' hosts, by either scheme. `domain`: their registrable domains (public suffix list, its private part
   * included) with everything below. `prefix`: what lies in the folder of a seed. `any`: everywhere.
   */
  readonly kind: ScopeKind
  /** A URL must match one of these, when there are any. */
  readonly match?: readonly UrlTest[] | undefined
  /** A URL that matches one of these is left out. */
  readonly exclude?: readonly UrlTest[] | undefined
  /** Salts the hashes of hosts. Default unsalted. */
  readonly random?: Random | undefined
}

export interface Scope {
  /** Brings what the seed stands for into scope; true when that is more than before. `url`: serialised http(s). */
  addSeed(url: string): boolean
  /** `filtered`: in scope, but refused by match or exclude. Seeds themselves are not to be asked about. */
  decide(url: string, hostKey: string): 'in' | 'scope' | 'filtered'
  /** Whatever its host. */
  isExcluded(url: string): boolean
}

export function createScope(options: ScopeOptions): Scope {
  const match = (options.match ?? []).map(stateless)
  const exclude = (options.exclude ?? []).map(stateless)
  const area = AREAS[options.kind](Math.floor((options.random?.() ?? 0) * 2 ** 32))
  const isExcluded = (url: string): boolean => exclude.some((pattern) => pattern.test(url))
  const isWanted = (url: string): boolean =>
    (match.length === 0 || match.some((pattern) => pattern.test(url))) && !isExcluded(url)

  return {
    addSeed: (url) => area.grow(url, hostKeyOf(url)),
    decide(url, hostKey) {
      if (!area.holds(url, hostKey)) return 'scope'
      return isWanted(url) ? 'in' : 'filtered'
    },
    isExcluded,
  }
}

interface Area {
  grow(url: string, hostKey: string): boolean
  holds(url: string, hostKey: string): boolean
}

const AREAS: Readonly<Record<ScopeKind, (salt: number) => Area>> = {
  any: () => ({ grow: () => false, holds: () => true }),
  host: hostArea,
  domain: domainArea,
  prefix: prefixArea,
}

function hostArea(salt: number): Area {
  const hosts = createCompactSet(salt)
  return { grow: (_, hostKey) => hosts.add(hostKey), holds: (_, hostKey) => hosts.has(hostKey) }
}

/** Answers kept per host; the suffix list costs a microsecond or two. */
const MAX_CACHED_HOSTS = 10_000

function domainArea(salt: number): Area {
  const domains = createCompactSet(salt)
  const cache = new Map<string, boolean>()
  return {
    grow(_, hostKey) {
      const isNew = domains.add(domainOf(hostKey))
      if (isNew) cache.clear()
      return isNew
    },
    holds(_, hostKey) {
      const cached = cache.get(hostKey)
      if (cached !== undefined) return cached
      if (cache.size >= MAX_CACHED_HOSTS) cache.clear()
      const isIn = isDomainIn(domains, hostKey)
      cache.set(hostKey, isIn)
      return isIn
    },
  }
}

function isDomainIn(domains: CompactSet, hostKey: string): boolean {
  return domains.has(domainOf(hostKey))
}

/** The registrable domain; for an address, a single label or a public suffix itself the whole name. */
function domainOf(hostKey: string): string {
  const name = hostNameOf(hostKey)
  return (
    suffixList().getDomain(name, { allowPrivateDomains: true, extractHostname: false, validateHostname: false }) ?? name
  )
}

/** Folders kept per host: with more, new ones of that host are folded into its root. */
const MAX_PREFIXES_PER_HOST = 10_000

function prefixArea(): Area {
  const byHost = new Map<string, Set<string>>()
  return {
    grow(url, hostKey) {
      const folders = byHost.get(hostKey) ?? new Set<string>()
      if (holdsFolder(folders, folderOf(url))) return false
      byHost.set(hostKey, folders.add(folders.size < MAX_PREFIXES_PER_HOST ? folderOf(url) : '/'))
      return true
    },
    holds(url, hostKey) {
      const folders = byHost.get(hostKey)
      return folders !== undefined && holdsFolder(folders, folderOf(url))
    },
  }
}

/** Whether the folder or one above it is there: one look-up a level, however many folders there are. */
function holdsFolder(folders: ReadonlySet<string>, folder: string): boolean {
  if (folders.size === 1) {
    for (const only of folders) return folder.startsWith(only)
  }
  for (let end = folder.length; end > 1; end = folder.lastIndexOf('/', end - 2) + 1) {
    if (folders.has(folder.slice(0, end))) return true
  }
  return folders.has('/')
}

/** The path up to and with its last slash. */
function folderOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const query = url.indexOf('?', start)
  const path = query === -1 ? url.slice(start) : url.slice(start, query)
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** A pattern with `g` or `y` remembers where it was. */
function stateless(pattern: UrlTest): UrlTest {
  if (!(pattern instanceof RegExp)) return pattern
  return pattern.global || pattern.sticky ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')) : pattern
}
