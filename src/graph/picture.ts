/** What a picture of the graph shows: pages and the links between them, or, of too many, the levels of each host. */

import { classOf, type NodeClass } from './formats.ts'
import type { GraphNode, GraphSource } from './contract.ts'

export interface Dot {
  readonly label: string
  /** To open; empty where the dot stands for many. */
  readonly url: string
  readonly host: string
  readonly depth: number
  /** The worst of those that it stands for. */
  class: NodeClass
  /** URLs that it stands for. */
  count: number
  linkedFrom: number
}

export interface Picture {
  readonly task: string
  /** Dots stand for the URLs of one host at one level. */
  readonly isGrouped: boolean
  readonly dots: readonly Dot[]
  /** Places in `dots`. */
  readonly lines: readonly (readonly [from: number, to: number])[]
  /** What is left out, because there is too much. */
  readonly droppedDots: number
  readonly droppedLines: number
}

export interface PictureBounds {
  readonly maxDots: number
  readonly maxLines: number
}

const PICTURE_BOUNDS: PictureBounds = { maxDots: 50_000, maxLines: 200_000 }

export async function readPicture(source: GraphSource, bounds: PictureBounds = PICTURE_BOUNDS): Promise<Picture> {
  const places = new Places(bounds)
  for await (const node of source.nodes()) places.meet(node)
  const lines = new Map(places.redirects().map((line) => [line.join(' '), line]))
  let droppedLines = 0
  for await (const { page, links } of source.pages()) {
    const from = places.placeOf(page)
    if (from === undefined) continue
    for (const { target } of links) {
      const to = places.placeOf(target)
      if (to === undefined || to === from || lines.has(`${from} ${to}`)) continue
      if (lines.size < bounds.maxLines) lines.set(`${from} ${to}`, [from, to])
      else droppedLines++
      places.noteLink(to)
    }
  }
  return {
    task: source.task,
    isGrouped: places.isGrouped,
    dots: places.dots(),
    lines: [...lines.values()],
    droppedDots: places.dropped,
    droppedLines,
  }
}

/** Dots one by one while there are few enough of them, and those of the groups beside. */
class Places {
  readonly #maxDots: number
  readonly #single: Dot[] = []
  readonly #groups: Dot[] = []
  readonly #groupPlaces = new Map<string, number>()
  /** By id: the place among the single ones, and that among the groups (none: -1). */
  readonly #places = new Map<string, readonly [single: number, group: number]>()
  /** Ids of what a redirect stands for, by the URL; and whose redirects these are. */
  readonly #idOf = new Map<string, string>()
  readonly #aliases: (readonly [id: string, of: string])[] = []
  dropped = 0

  constructor({ maxDots }: PictureBounds) {
    this.#maxDots = maxDots
  }

  get isGrouped(): boolean {
    return this.#places.size > this.#maxDots
  }

  meet(node: GraphNode): void {
    const { id, url, host, depth = -1 } = node
    const kind = classOf(node)
    this.#places.set(id, [this.#single.length, this.#groupOf(host, depth, kind)])
    if (this.#single.length >= this.#maxDots) return
    this.#idOf.set(url, id)
    if (node.aliasOf !== undefined) this.#aliases.push([id, node.aliasOf])
    this.#single.push({ label: url, url, host, depth, class: kind, count: 1, linkedFrom: 0 })
  }

  redirects(): readonly (readonly [from: number, to: number])[] {
    if (this.isGrouped) return []
    return this.#aliases.flatMap(([id, of]) => {
      const [from, to] = [this.placeOf(id), this.placeOf(this.#idOf.get(of) ?? '')]
      return from === undefined || to === undefined ? [] : [[from, to] as const]
    })
  }

  #groupOf(host: string, depth: number, kind: NodeClass): number {
    const key = `${depth} ${host}`
    const known = this.#groupPlaces.get(key)
    const group = known === undefined ? undefined : this.#groups[known]
    if (known !== undefined && group !== undefined) {
      group.count++
      if (SEVERITY.indexOf(kind) > SEVERITY.indexOf(group.class)) group.class = kind
      return known
    }
    if (this.#groups.length >= this.#maxDots) {
      this.dropped++
      return -1
    }
    const level = depth < 0 ? 'never met by the crawl' : `level ${depth}`
    this.#groups.push({ label: `${host}, ${level}`, url: '', host, depth, class: kind, count: 1, linkedFrom: 0 })
    this.#groupPlaces.set(key, this.#groups.length - 1)
    return this.#groups.length - 1
  }

  placeOf(id: string): number | undefined {
    const place = this.#places.get(id)?.[this.isGrouped ? 1 : 0]
    return place === -1 ? undefined : place
  }

  noteLink(to: number): void {
    const dot = this.dots()[to]
    if (dot !== undefined) dot.linkedFrom++
  }

  dots(): readonly Dot[] {
    return this.isGrouped ? this.#groups : this.#single
  }
}

/** What is worst is seen first. */
const SEVERITY: readonly NodeClass[] = ['unmet', 'skipped', 'redirected', 'ok', 'waiting', 'failed']
