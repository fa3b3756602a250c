/** Answers for the robots files of the hosts of a crawl: fetched once, kept over restarts, tried again when unreachable. */

import type { Clock } from '../core/clock.ts'
import type { StateStore } from '../core/state-store.ts'
import type { Fetcher } from '../fetch/contract.ts'
import type { Random } from '../util/random.ts'
import { createSingleFlight } from '../util/single-flight.ts'
import type { RobotsDecision, RobotsSource } from './contract.ts'
import { fetchRobots, type FetchRobotsPermit } from './fetch-robots.ts'
import { judge } from './match.ts'
import { createRobotsFiles, type RobotsFile } from './robots-files.ts'
import { createTroubles, type Trouble } from './troubles.ts'

export interface RobotsSourceOptions {
  readonly fetcher: Fetcher
  /** Keys `robots/…` are this source's. */
  readonly state: StateStore
  readonly clock: Clock
  readonly random: Random
  /** Product token (or whole User-Agent) that rules are read for. */
  readonly agent: string
  /** Sent with the request. Default: the fetcher's own. */
  readonly userAgent?: string | undefined
  /** Of each hop. Default: the fetcher's own. */
  readonly timeoutMs?: number | undefined
  /** Passed on to the fetcher. */
  readonly session?: string | undefined
  /** May redirects lead to private addresses of other hosts? Default false. For the host itself see `RobotsQuestion`. */
  readonly allowPrivate?: boolean | undefined
  /** Bound of the files kept parsed, in bytes of text. Default 16 MiB. */
  readonly maxCachedBytes?: number | undefined
}

const MAX_CACHED_BYTES = 16 * 1024 * 1024

type Finding =
  | { readonly kind: 'file'; readonly file: RobotsFile }
  | { readonly kind: 'guarded' }
  | ({ readonly kind: 'unreachable' } & Trouble)

type FetchQuestion = Omit<FetchRobotsPermit, 'allowPrivateElsewhere'>

/**
 * Answers from memory where it can. 2xx is obeyed; redirects are followed (five, also to other hosts); other 3xx and 4xx
 * allow everything; 429, 5xx and network failures are `unreachable`, with exponential backoff or the server's Retry-After.
 * Rejects when the question's signal aborts, and when the store does.
 */
export function createRobotsSource(options: RobotsSourceOptions): RobotsSource {
  const { maxCachedBytes = MAX_CACHED_BYTES, state, clock } = options
  const files = createRobotsFiles({ state, clock, maxCachedBytes })
  const troubles = createTroubles(options)
  const flights = createSingleFlight<Finding>()

  return {
    async decide(url, { allowPrivate, signal, onSent }) {
      signal?.throwIfAborted()
      const origin = originOf(url)
      const file = files.recall(origin)
      if (file !== undefined && files.isFresh(file)) return verdict(file, url)
      const trouble = troubles.current(origin)
      if (trouble !== undefined) {
        return file !== undefined && files.isUsable(file) ? verdict(file, url) : { kind: 'unreachable', ...trouble }
      }
      const key = allowPrivate ? `${origin} private` : origin
      const finding = await flights.run(key, (own) => find(origin, { allowPrivate, signal: own, onSent }), signal)
      return finding.kind === 'file' ? verdict(finding.file, url) : finding
    },
  }

  async function find(origin: string, asked: FetchQuestion): Promise<Finding> {
    const stored = await files.load(origin)
    if (stored !== undefined && files.isFresh(stored)) return { kind: 'file', file: stored }
    const permit = { ...asked, allowPrivateElsewhere: options.allowPrivate ?? false }
    const answer = await fetchRobots({ ...options, origin, nowMs: clock.nowMs() }, permit)
    if (answer.kind === 'guarded') return answer
    if (answer.kind === 'unreachable') {
      const trouble = troubles.note(origin, answer)
      return stored !== undefined && files.isUsable(stored)
        ? { kind: 'file', file: stored }
        : { kind: 'unreachable', ...trouble }
    }
    const file = await files.keep(origin, answer.kind === 'rules' ? Buffer.from(answer.body).toString('latin1') : '')
    troubles.clear(origin)
    return { kind: 'file', file }
  }

  function verdict({ robots }: RobotsFile, url: string): RobotsDecision {
    return { kind: 'verdict', verdict: judge(robots, url, options.agent) }
  }
}

/** Scheme, host and port (RFC 9309, 2.3): each has a file of its own. */
function originOf(url: string): string {
  const start = url.indexOf('//') + 2
  const path = url.indexOf('/', start)
  const authority = path === -1 ? url.slice(start) : url.slice(start, path)
  return url.slice(0, start) + authority.slice(authority.lastIndexOf('@') + 1)
}
