/** Tells endless spaces of URLs from large sites: rules with budgets per host and pattern, in bounded memory. */

import { hash52 } from '../util/compact-set.ts'
import { hostKeyOf } from './canonical.ts'
import { type Budgets, type BudgetsState, createBudgets } from './trap-budgets.ts'
import {
  escapeNesting,
  isFarDate,
  mostRepeats,
  parameterNames,
  partsOf,
  type UrlParts,
  withoutSession,
} from './trap-signs.ts'
import { createPathWords, type PathWords, type PathWordsState } from './trap-words.ts'

/** Budgets; `Infinity` switches a rule off. */
export interface TrapLimits {
  /** `deep-path`: segments of a path. */
  readonly maxPathSegments: number
  /** `repeated-segment`: how often one segment may stand in a path. */
  readonly maxSegmentRepeats: number
  /** `shuffled-path`: paths of a host that are made of words which turn up at every level, or of few words many times. */
  readonly maxShuffledPaths: number
  /** `long-path`, `long-query`: URLs of a host with a path over 512 or a query over 1,024 characters. */
  readonly maxLongUrls: number
  /** `many-parameters`: parameters of a query. */
  readonly maxParameters: number
  /** `repeated-parameter`: how often one `name=value` may stand in a query. */
  readonly maxParameterRepeats: number
  /** `nested-escapes`: levels of escaped escapes; `%25` is one, `%2525` two. */
  readonly maxEscapeNesting: number
  /** `parameter-names`: different rows of names (of three or more) that one path of a host is asked with. */
  readonly maxParameterRows: number
  /** `session-id`: session ids under which one page is met. */
  readonly maxSessions: number
  /** `calendar`: pages of a host about dates more than three years ahead, or in a calendar before 1970. */
  readonly maxFarDates: number
  /** `same-content`: URLs of a host with one content whose links are followed. */
  readonly maxSameContent: number
}

export const TRAP_LIMITS: TrapLimits = {
  maxPathSegments: 32,
  maxSegmentRepeats: 8,
  maxShuffledPaths: 500,
  maxLongUrls: 500,
  maxParameters: 100,
  maxParameterRepeats: 6,
  maxEscapeNesting: 2,
  maxParameterRows: 200,
  maxSessions: 4,
  maxFarDates: 300,
  maxSameContent: 100,
}

export interface TrapFinding {
  /** Name of the rule that fired. */
  readonly rule: string
}

/** JSON-safe. A few kilobytes for most crawls, at most some 8 MB for one of thousands of hosts full of traps. */
export interface TrapState {
  readonly budgets: BudgetsState
  readonly contents: BudgetsState
  readonly words: PathWordsState
}

export interface TrapGuard {
  /**
   * The rule that a new URL falls under, or undefined. Seeds (depth 0) never do. A URL that once passed a budget goes on
   * passing it. `url`: serialised http(s) without fragment.
   */
  decide(url: string, depth: number): TrapFinding | undefined
  /** Notes that a page had this content (any digest of it): its links should not be followed when a rule is named. */
  notePage(url: string, contentHash: string): TrapFinding | undefined
  /** What a later guard goes on from. */
  toJSON(): TrapState
}

export interface TrapGuardOptions {
  readonly limits?: Partial<TrapLimits> | undefined
  /** Places dates. */
  readonly nowMs: number
  /** Of an earlier guard's `toJSON`. */
  readonly state?: TrapState | undefined
}

const LONG_PATH = 512
const LONG_QUERY = 1024
const MIN_NAMES = 3
const MIN_LONG_SEGMENTS = 9
/** Members and keys of all budgets: about 10 MB of memory. */
const MAX_BUDGET_WEIGHT = 200_000
const MAX_CONTENT_WEIGHT = 100_000

export function createTrapGuard({ limits, nowMs, state }: TrapGuardOptions): TrapGuard {
  const guard: Guard = {
    limits: { ...TRAP_LIMITS, ...limits },
    thisYear: new Date(nowMs).getUTCFullYear(),
    budgets: createBudgets(MAX_BUDGET_WEIGHT, state?.budgets),
    words: createPathWords(state?.words),
  }
  const contents = createBudgets(MAX_CONTENT_WEIGHT, state?.contents)

  return {
    decide(url, depth) {
      if (depth === 0) return undefined
      const parts = partsOf(url)
      const rule = shapeRule(url, parts, guard.limits) ?? pathRule(url, parts, guard) ?? queryRule(url, parts, guard)
      return rule === undefined ? undefined : { rule }
    },
    notePage(url, contentHash) {
      const key = `${hostKeyOf(url)} ${contentHash}`
      return contents.admit(key, url, guard.limits.maxSameContent) ? undefined : { rule: 'same-content' }
    },
    toJSON: () => ({ budgets: guard.budgets.state(), contents: contents.state(), words: guard.words.state() }),
  }
}

interface Guard {
  readonly limits: TrapLimits
  readonly thisYear: number
  readonly budgets: Budgets
  readonly words: PathWords
}

/** What the URL alone tells. */
function shapeRule(url: string, { segments, parameters }: UrlParts, limits: TrapLimits): string | undefined {
  if (segments.length > limits.maxPathSegments) return 'deep-path'
  if (segments.length > limits.maxSegmentRepeats && mostRepeats(segments) > limits.maxSegmentRepeats) {
    return 'repeated-segment'
  }
  if (parameters.length > limits.maxParameters) return 'many-parameters'
  if (parameters.length > limits.maxParameterRepeats && mostRepeats(parameters) > limits.maxParameterRepeats) {
    return 'repeated-parameter'
  }
  return escapeNesting(url) > limits.maxEscapeNesting ? 'nested-escapes' : undefined
}

function pathRule(url: string, { hostKey, path, segments }: UrlParts, guard: Guard): string | undefined {
  const { budgets, limits } = guard
  const isShuffled = guard.words.isShuffled(hostKey, segments) || isMonotonous(segments)
  if (isShuffled && !budgets.admit(`s ${hostKey}`, path, limits.maxShuffledPaths)) return 'shuffled-path'
  if (path.length > LONG_PATH && !budgets.admit(`p ${hostKey}`, path, limits.maxLongUrls)) return 'long-path'
  if (isFarDate(url, guard.thisYear) && !budgets.admit(`d ${hostKey}`, url, limits.maxFarDates)) return 'calendar'
  const page = withoutSession(url)
  if (page !== undefined && !budgets.admit(`i ${hash52(page)}`, url, limits.maxSessions)) return 'session-id'
  return undefined
}

/** Long, and a third of it one segment: also where the segments are numbers. */
function isMonotonous(segments: readonly string[]): boolean {
  return segments.length >= MIN_LONG_SEGMENTS && mostRepeats(segments) * 3 >= segments.length
}

function queryRule(url: string, { hostKey, path, query, parameters }: UrlParts, guard: Guard): string | undefined {
  const { budgets, limits } = guard
  if (query.length > LONG_QUERY && !budgets.admit(`q ${hostKey}`, url, limits.maxLongUrls)) return 'long-query'
  if (parameters.length < MIN_NAMES) return undefined
  const isKnown = budgets.admit(`n ${hash52(hostKey + path)}`, parameterNames(parameters), limits.maxParameterRows)
  return isKnown ? undefined : 'parameter-names'
}
