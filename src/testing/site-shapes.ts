/** Whole sites made from a number or a graph, with the truth about them: which pages there are, and how deep each lies. */

import type { SiteHandler } from './site-answer.ts'

export interface SiteShape {
  readonly handler: SiteHandler
  /** Path of the page that leads to all others. */
  readonly seed: string
  /** Every path that can be reached from the seed, with its shortest distance. */
  readonly depths: ReadonlyMap<string, number>
}

export interface TreeSiteOptions {
  /** Links from each page to another branch, beside those to its children, its parent and the root. Default 2. */
  readonly crossLinks?: number
  /** Silence before the answer. Default 0. */
  readonly delayMs?: number
}

const NUMBERED = /^\/p\/(\d+)$/

/** `pages` pages `/p/0` … in a tree of `fanout` children a page; links back and across do not change the depths. */
export function treeSite(pages: number, fanout: number, options: TreeSiteOptions = {}): SiteShape {
  const { crossLinks = 2, delayMs = 0 } = options
  const depths = new Map<string, number>()
  for (let page = 0; page < pages; page += 1) {
    const parent = page === 0 ? undefined : depths.get(pathOf(parentOf(page, fanout)))
    depths.set(pathOf(page), parent === undefined ? 0 : parent + 1)
  }
  return {
    seed: pathOf(0),
    depths,
    handler: ({ path }) => {
      const page = numberOf(path)
      if (page === undefined || page >= pages) return undefined
      const links = [0, ...(page === 0 ? [] : [parentOf(page, fanout)])]
      for (let child = page * fanout + 1; child <= page * fanout + fanout && child < pages; child += 1)
        links.push(child)
      // only towards pages that are not deeper than the next level, so that the tree stays the shortest way
      for (let i = 1; i <= crossLinks; i += 1) links.push((page * 7 + i * 13) % (page + 1))
      return { title: `Page ${page}`, links: links.map(pathOf), ...(delayMs > 0 ? { delayMs } : {}) }
    },
  }
}

/** Page `/p/i` links to `/p/j` for each j of `adjacency[i]` and answers after `latenciesMs[i]` (default 0). */
export function graphSite(adjacency: readonly (readonly number[])[], latenciesMs: readonly number[] = []): SiteShape {
  return {
    seed: pathOf(0),
    depths: distances(adjacency),
    handler: ({ path }) => {
      const page = numberOf(path)
      const targets = page === undefined ? undefined : adjacency[page]
      if (page === undefined || targets === undefined) return undefined
      const delayMs = latenciesMs[page] ?? 0
      return { title: `Page ${page}`, links: targets.map(pathOf), ...(delayMs > 0 ? { delayMs } : {}) }
    },
  }
}

function distances(adjacency: readonly (readonly number[])[]): Map<string, number> {
  const depths = new Map<string, number>([[pathOf(0), 0]])
  let level: readonly number[] = [0]
  for (let depth = 1; level.length > 0; depth += 1) {
    const next: number[] = []
    for (const target of level.flatMap((page) => adjacency[page] ?? [])) {
      if (depths.has(pathOf(target)) || target >= adjacency.length) continue
      depths.set(pathOf(target), depth)
      next.push(target)
    }
    level = next
  }
  return depths
}

function pathOf(page: number): string {
  return `/p/${page}`
}

function parentOf(page: number, fanout: number): number {
  return Math.floor((page - 1) / fanout)
}

function numberOf(path: string): number | undefined {
  const digits = NUMBERED.exec(path)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
