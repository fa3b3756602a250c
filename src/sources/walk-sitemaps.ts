/** Goes through sitemaps and the ones that they list, each once, within bounds, no faster than their finds are taken. */

import type { Bytes } from '../util/byte-stream.ts'
import type { SitemapEntry } from './contract.ts'
import { type SitemapFind, type SitemapLimits, parseSitemap } from './sitemap.ts'

export interface WalkLimits extends SitemapLimits {
  /** Indexes below a root: the standard has none, sites have one or two. Default 3. */
  readonly maxNesting: number
  /** Sitemaps fetched in all. Default 50,000. */
  readonly maxSitemaps: number
}

/** What came of one sitemap. `url` is where it was in the end. */
export type SitemapAnswer =
  | { readonly url: string; readonly body: Uint8Array | Bytes }
  /** One line for people. */
  | { readonly problem: string }

export type SitemapRoot =
  /** Absolute, http or https. */
  | { readonly url: string }
  /** Given, not to be fetched; `name` is for people. */
  | { readonly name: string; readonly body: Uint8Array | Bytes }

export interface WalkSitemapsOptions {
  readonly roots: readonly SitemapRoot[]
  /** Rejects only for what is to end the walk (an abort). */
  readonly fetch: (url: string) => Promise<SitemapAnswer>
  readonly limits?: Partial<WalkLimits>
  /** False: the sitemaps of an index are named, not read. Default true. */
  readonly follow?: boolean
}

export type WalkFind =
  | { readonly kind: 'page'; readonly entry: SitemapEntry; readonly sitemap: string }
  /** Only when they are not followed. */
  | { readonly kind: 'sitemap'; readonly url: string; readonly lastmod?: string; readonly sitemap: string }
  /** `isRoot`: one of the roots gave nothing at all; otherwise one further down, or only a part of one. */
  | { readonly kind: 'problem'; readonly problem: string; readonly sitemap: string; readonly isRoot: boolean }

interface Waiting {
  readonly root: SitemapRoot
  readonly level: number
}

const MAX_NESTING = 3
const MAX_SITEMAPS = 50_000

/** Depth first, in the order of the files: an index, then all below its first entry, then its second. */
export async function* walkSitemaps(options: WalkSitemapsOptions): AsyncGenerator<WalkFind> {
  const { maxNesting = MAX_NESTING, maxSitemaps = MAX_SITEMAPS } = options.limits ?? {}
  const seen = new Set<string>()
  const waiting: Waiting[] = options.roots.map((root) => ({ root, level: 0 })).toReversed()
  let tooDeep = 0

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.size >= maxSitemaps) {
      yield endOfWalk(`the limit of ${String(maxSitemaps)} sitemaps is reached: the rest is not read`)
      return
    }
    const { level } = next
    const children: string[] = []
    yield* readOne(next, { options, seen, children })
    if (level >= maxNesting) tooDeep += children.length
    else for (const url of children.toReversed()) waiting.push({ root: { url }, level: level + 1 })
  }
  if (tooDeep > 0) {
    yield endOfWalk(`${String(tooDeep)} sitemaps are not read: indexes are nested deeper than ${String(maxNesting)}`)
  }
}

interface WalkState {
  readonly options: WalkSitemapsOptions
  readonly seen: Set<string>
  /** Takes the sitemaps that this one lists. */
  readonly children: string[]
}

async function* readOne({ root, level }: Waiting, { options, seen, children }: WalkState): AsyncGenerator<WalkFind> {
  const { fetch, limits = {}, follow = true } = options
  const about = { sitemap: 'url' in root ? root.url : root.name, isRoot: level === 0 }
  const answer = await open(root, fetch, seen)
  if (answer === undefined) return
  if ('problem' in answer) {
    yield { kind: 'problem', problem: answer.problem, ...about }
    return
  }
  let isUsable = false
  for await (const find of parseSitemap(answer.body, { ...urlOf(answer), limits })) {
    if (find.kind !== 'problem') isUsable = true
    if (find.kind === 'sitemap' && follow) children.push(find.url)
    else yield nameFind(find, { ...about, isRoot: about.isRoot && !isUsable })
  }
}

function endOfWalk(problem: string): WalkFind {
  return { kind: 'problem', problem, sitemap: '', isRoot: false }
}

type OpenSitemap = { readonly url?: string; readonly body: Uint8Array | Bytes } | { readonly problem: string }

/** Undefined: it was read before, under this address or the one it leads to. */
async function open(
  root: SitemapRoot,
  fetch: WalkSitemapsOptions['fetch'],
  seen: Set<string>,
): Promise<OpenSitemap | undefined> {
  if ('body' in root) {
    seen.add(root.name)
    return { body: root.body }
  }
  if (seen.has(root.url)) return undefined
  seen.add(root.url)
  const answer = await fetch(root.url)
  if ('problem' in answer || answer.url === root.url) return answer
  if (seen.has(answer.url)) return undefined
  seen.add(answer.url)
  return answer
}

function urlOf(answer: { readonly url?: string }): { readonly url?: string } {
  return answer.url === undefined ? {} : { url: answer.url }
}

function nameFind(find: SitemapFind, about: { readonly sitemap: string; readonly isRoot: boolean }): WalkFind {
  if (find.kind === 'problem') return { ...find, ...about }
  return { ...find, sitemap: about.sitemap }
}
