/** Where redirects have led, told from the requests: a hop that was new stands as an alias of the request that made it. */

import type { GraphNode } from './contract.ts'

/** From the URL asked for first, over each hop, to where it ended. */
export function chainsOf(nodes: readonly GraphNode[]): readonly (readonly string[])[] {
  const leading = new Map(nodes.filter(({ finalUrl }) => finalUrl !== undefined).map((node) => [node.url, node]))
  const hops = new Map<string, string[]>()
  const ownChains: GraphNode[] = []
  for (const node of nodes) {
    const { url, parentUrl, aliasOf, reason } = node
    if (reason !== 'duplicate' || aliasOf === undefined) continue
    const from = parentUrl === undefined ? undefined : leading.get(parentUrl)
    const isHop = from !== undefined && (aliasOf === from.url || aliasOf === from.aliasOf)
    if (!isHop) ownChains.push(node)
    else if (hops.has(from.url)) hops.get(from.url)?.push(url)
    else hops.set(from.url, [url])
  }
  const alone = ownChains.filter(({ url }) => !leading.has(url))
  const chains = [
    ...[...leading.values()].map((node) => chainOf(node, hops.get(node.url) ?? [])),
    ...alone.map(({ url, aliasOf = '' }) => [url, aliasOf]),
  ]
  // a page that sets a cookie may send its readers back to itself
  return chains.filter(({ length }) => length > 1)
}

/** A loop that cookies end leads over the same URL again: each is told once. */
function chainOf({ url, finalUrl = url, aliasOf }: GraphNode, hops: readonly string[]): readonly string[] {
  return [
    ...new Set([url, ...hops.filter((hop) => hop !== finalUrl), finalUrl, ...(aliasOf === undefined ? [] : [aliasOf])]),
  ]
}
