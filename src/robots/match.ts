/** Judges URLs by a parsed robots.txt: the longest rule that matches, the allowing one of two equals. */

import type { RobotsVerdict } from './contract.ts'
import { bytesOf, normalisePath, type ParsedRobots, type RobotsRule, tokenOf } from './parse.ts'

/**
 * `url` is a serialised http(s) URL; relative sitemap addresses are resolved against it. `agent` is a product token or a
 * whole User-Agent. Time is linear in the URL for each rule with a wildcard, logarithmic in the number of the others.
 */
export function judge(robots: ParsedRobots, url: string, agent: string): RobotsVerdict {
  const view = viewOf(robots, agent)
  const path = pathOf(url)
  const about = { group: view.group, crawlDelay: view.crawlDelay, sitemaps: sitemapsOf(robots, url) }
  // RFC 9309, 2.2.2: the file itself is allowed, always.
  const rule = path === '/robots.txt' ? undefined : decidingRule(view, path)
  if (rule === undefined) return { allowed: true, rule: null, line: null, ...about }
  return { allowed: rule.allow, rule: rule.text, line: rule.line, ...about }
}

interface View {
  readonly group: string | null
  readonly crawlDelay: number | null
  /** Without wildcards, sorted. */
  readonly prefixes: readonly PrefixRule[]
  /** Most specific first. */
  readonly wildcards: readonly WildcardRule[]
}

interface PrefixRule {
  readonly rule: RobotsRule
  /** Position of the longest other prefix of this one, or -1. */
  readonly shorter: number
}

interface WildcardRule {
  readonly rule: RobotsRule
  /** What stands between the stars. */
  readonly pieces: readonly string[]
  readonly isAnchored: boolean
}

const views = new WeakMap<ParsedRobots, Map<string, View>>()

function viewOf(robots: ParsedRobots, agent: string): View {
  let byAgent = views.get(robots)
  if (byAgent === undefined) views.set(robots, (byAgent = new Map()))
  let view = byAgent.get(agent)
  if (view === undefined) byAgent.set(agent, (view = compile(robots, agent)))
  return view
}

function compile(robots: ParsedRobots, agent: string): View {
  const token = tokenFor(robots, agent)
  const groups = robots.groups.filter((group) => group.agents.some((named) => named.token === token))
  const delays = robots.delays.filter(({ tokens }) => tokens.includes(token)).map(({ seconds }) => seconds)
  const rules = groups.flatMap((group) => group.rules)
  return {
    group: groups[0]?.agents.find((named) => named.token === token)?.text ?? null,
    crawlDelay: delays.length === 0 ? null : Math.max(...delays),
    prefixes: linkPrefixes(rules.filter(isPlain)),
    wildcards: rules
      .filter((rule) => !isPlain(rule))
      .toSorted(bySpecificity)
      .map(compileWildcard),
  }
}

function isPlain({ pattern }: RobotsRule): boolean {
  return !pattern.includes('*') && !pattern.endsWith('$')
}

/**
 * The token whose groups apply: that of the agent; for a whole User-Agent with a comment the first product in it that
 * has a group (`Mozilla/5.0 (compatible; thatbot/2.1)`); `*` otherwise.
 */
function tokenFor(robots: ParsedRobots, agent: string): string {
  const known = new Set(robots.groups.flatMap((group) => group.agents.map((named) => named.token)))
  const bytes = bytesOf(agent.trim())
  const first = tokenOf(bytes)
  if (known.has(first)) return first
  const products = bytes.slice(0, 1000).match(/[A-Za-z0-9_-]+(?=\/\d)/g) ?? []
  return products.map((product) => tokenOf(product)).find((token) => known.has(token)) ?? '*'
}

/** Octets of the pattern (RFC 9309, 2.2.2), then allow before disallow, then the order of the file. */
function bySpecificity(a: RobotsRule, b: RobotsRule): number {
  return b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow) || a.line - b.line
}

function decidingRule(view: View, path: string): RobotsRule | undefined {
  const prefix = longestPrefix(view.prefixes, path)
  for (const wildcard of view.wildcards) {
    if (prefix !== undefined && bySpecificity(wildcard.rule, prefix) > 0) break
    if (matchesWildcard(wildcard, path)) return wildcard.rule
  }
  return prefix
}

/** Sorted by pattern, one rule a pattern, each with the longest of the others that is its prefix. */
function linkPrefixes(rules: readonly RobotsRule[]): readonly PrefixRule[] {
  const byPattern = new Map<string, RobotsRule>()
  for (const rule of rules.toSorted(bySpecificity)) if (!byPattern.has(rule.pattern)) byPattern.set(rule.pattern, rule)
  const linked: PrefixRule[] = []
  for (const rule of [...byPattern.values()].toSorted((a, b) => (a.pattern < b.pattern ? -1 : 1))) {
    let shorter = linked.length - 1
    while (shorter >= 0 && !rule.pattern.startsWith(at(linked, shorter).rule.pattern))
      shorter = at(linked, shorter).shorter
    linked.push({ rule, shorter })
  }
  return linked
}

/** Whatever is a prefix of the path is its last predecessor in the order, or a prefix of that. */
function longestPrefix(prefixes: readonly PrefixRule[], path: string): RobotsRule | undefined {
  let low = 0
  let high = prefixes.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(prefixes, middle).rule.pattern <= path) low = middle + 1
    else high = middle
  }
  let index = low - 1
  while (index >= 0 && !path.startsWith(at(prefixes, index).rule.pattern)) index = at(prefixes, index).shorter
  return index < 0 ? undefined : at(prefixes, index).rule
}

function at(prefixes: readonly PrefixRule[], index: number): PrefixRule {
  const found = prefixes[index]
  if (found === undefined) throw new RangeError(`no rule at ${index}`)
  return found
}

function compileWildcard(rule: RobotsRule): WildcardRule {
  const isAnchored = rule.pattern.endsWith('$')
  const pattern = isAnchored ? rule.pattern.slice(0, -1) : rule.pattern
  // Stars in a row mean what one means.
  const pieces = pattern
    .split('*')
    .filter((piece, index, all) => piece !== '' || index === 0 || index === all.length - 1)
  return { rule, pieces, isAnchored }
}

/** Each piece at its first place after the one before: a later place can never help, so nothing is tried twice. */
function matchesWildcard({ pieces, isAnchored }: WildcardRule, path: string): boolean {
  const first = pieces[0] ?? ''
  if (!path.startsWith(first)) return false
  if (pieces.length === 1) return !isAnchored || path.length === first.length
  const last = isAnchored ? (pieces.at(-1) ?? '') : ''
  const end = path.length - last.length
  let from = first.length
  for (const piece of isAnchored ? pieces.slice(1, -1) : pieces.slice(1)) {
    const found = path.indexOf(piece, from)
    if (found === -1) return false
    from = found + piece.length
  }
  return from <= end && path.endsWith(last)
}

/** Path and query, escapes made equal; `*` and `$` are escaped, as a rule that means them must write them. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const hash = url.indexOf('#')
  const path = start === -1 ? '/' : url.slice(start, hash === -1 ? undefined : hash)
  return normalisePath(path).replaceAll('*', '%2A').replaceAll('$', '%24')
}

function sitemapsOf(robots: ParsedRobots, url: string): readonly string[] {
  return robots.sitemaps.flatMap((address) => {
    try {
      return [new URL(address, url).href]
    } catch {
      return []
    }
  })
}
