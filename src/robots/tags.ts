/** What a page's robots metas and X-Robots-Tag headers ask of a crawler. */

export interface RobotsTags {
  /** Contents of the robots metas that concern the agent, whole or as tokens. */
  readonly metas: readonly string[]
  /** Values of X-Robots-Tag, one a header line. */
  readonly xRobotsTag: readonly string[]
  /** Product token, or a whole User-Agent. */
  readonly agent: string
  /** Tells whether `unavailable_after` has passed; without it such a page counts as available. */
  readonly nowMs?: number | undefined
}

export interface RobotsDirectives {
  readonly noindex: boolean
  readonly nofollow: boolean
}

/** Everything that is asked adds up; nothing takes a prohibition back. Never throws. */
export function robotsDirectives({ metas, xRobotsTag, agent, nowMs }: RobotsTags): RobotsDirectives {
  const token = (/^[\w-]+/.exec(agent.trim())?.[0] ?? agent).toLowerCase()
  const directives = [
    ...metas.flatMap((content) => splitDirectives(content)),
    ...xRobotsTag.flatMap((value) => directivesFor(value, token)),
  ]
  const isGone = directives.some((directive) => hasExpired(directive, nowMs))
  const hasAny = (...names: string[]): boolean => directives.some((directive) => names.includes(directive))
  return { noindex: isGone || hasAny('noindex', 'none'), nofollow: hasAny('nofollow', 'none') }
}

const MAX_TAG_LENGTH = 8192
/** Directives that carry a value behind a colon: everything else before a colon is the name of an agent. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])

/** The comma behind the weekday of a date parts no directives. */
const WEEKDAY = /\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,\s*/g

/** Those of one header line: an agent's name holds for what follows it, up to the next name. */
function directivesFor(value: string, token: string): readonly string[] {
  let concerns = true
  const found: string[] = []
  for (const part of splitParts(value)) {
    const colon = part.indexOf(':')
    const name = colon === -1 ? '' : part.slice(0, colon).trim()
    let directive = part
    if (/^[\w.*-]+$/.test(name) && !WITH_VALUE.has(name)) {
      concerns = name === token || name === '*' || name === 'robots'
      directive = part.slice(colon + 1).trim()
    }
    if (concerns) found.push(...splitDirectives(directive))
  }
  return found
}

function splitParts(text: string): readonly string[] {
  return text
    .slice(0, MAX_TAG_LENGTH)
    .toLowerCase()
    .replace(WEEKDAY, '')
    .split(',')
    .map((part) => part.trim())
}

/** One with a value stays whole; between the others blanks count as commas. */
function splitDirectives(content: string): readonly string[] {
  return splitParts(content).flatMap((part) => (part.includes(':') ? [part] : part.split(/\s+/)))
}

function hasExpired(directive: string, nowMs: number | undefined): boolean {
  if (nowMs === undefined || !directive.startsWith('unavailable_after:')) return false
  const atMs = Date.parse(directive.slice('unavailable_after:'.length).trim().toUpperCase())
  return !Number.isNaN(atMs) && atMs < nowMs
}
