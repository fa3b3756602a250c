/** Where the dots of a picture stand: by level on rings, and from there by the forces of their links (ForceAtlas2). */

import { DirectedGraph } from 'graphology'
import imported from 'graphology-layout-forceatlas2'

export interface Placed {
  readonly x: number
  readonly y: number
}

export interface LayoutInput {
  /** Level of each; -1: none. */
  readonly depths: readonly number[]
  readonly lines: readonly (readonly [from: number, to: number])[]
}

/** The package is CommonJS: what its types call its default is what it exports as a whole. */
const forceAtlas2 = imported as unknown as (typeof imported)['default']

/** Dots times iterations: about what a core does in some seconds. */
const BUDGET = 1_000_000
const MAX_ITERATIONS = 300
/** From here on forces of far dots are reckoned together. */
const MANY = 1000

/** The same picture for the same crawl: nothing in it is drawn by lot. */
export function layOut({ depths, lines }: LayoutInput): readonly Placed[] {
  const graph = new DirectedGraph()
  const met = new Map<number, number>()
  for (const [place, depth] of depths.entries()) {
    const nth = (met.get(depth) ?? 0) + 1
    met.set(depth, nth)
    graph.addNode(place, onRing(depth < 0 ? RING_OF_NONE : depth, nth))
  }
  for (const [from, to] of lines) graph.mergeEdge(from, to)
  if (depths.length < 2) return depths.map(() => ({ x: 0, y: 0 }))
  const iterations = Math.max(10, Math.min(MAX_ITERATIONS, Math.floor(BUDGET / depths.length)))
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: depths.length > MANY }
  const places = forceAtlas2(graph, { iterations, settings })
  return depths.map((_, place) => ({ x: places[place]?.['x'] ?? 0, y: places[place]?.['y'] ?? 0 }))
}

const RING_OF_NONE = 3

/** The golden angle spreads any number evenly. */
function onRing(ring: number, nth: number): Placed {
  const angle = nth * 2.399_963 + ring
  const radius = 20 * (ring + 1) + Math.sqrt(nth)
  return { x: Math.cos(angle) * radius, y: Math.sin(angle) * radius }
}
