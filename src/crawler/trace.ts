/** What happens on the way to one answer, hop by hop: collected for `spoor fetch --trace`. */

import type { CacheAnswer, CacheGate } from '../cache/contract.ts'
import type { Clock } from '../core/clock.ts'
import type { DetectedCharset } from '../extract/charset.ts'
import type { Fetcher, FetchRequest, FetchResult, FetchTimings, HeaderList, WireStep } from '../fetch/contract.ts'
import type { RobotsVerdict } from '../robots/contract.ts'
import { hideUserinfo } from '../util/hide-userinfo.ts'

/** One URL that was asked for, of the cache or of its server. Instants are milliseconds since the trace began. */
export interface TraceHop {
  /** The page that was wanted, or the robots.txt that a crawl asks first. */
  readonly purpose: 'page' | 'robots.txt'
  readonly url: string
  readonly method: string
  readonly atMs: number
  /** Absent where no cache is used. */
  readonly cache?: TraceCache
  /** None for a page from the cache; only the request over a connection that was open already. */
  readonly steps: readonly WireStep[]
  /** As far as an answer came. */
  readonly response?: {
    readonly status: number
    readonly headers: HeaderList
    /** Of the body, over the wire and decoded. */
    readonly wireBytes: number
    readonly bytes: number
    readonly timings?: FetchTimings
  }
  /** A class of failure and what happened. */
  readonly error?: string
  /** What robots.txt says of the URL; only shown. Absent for robots.txt itself and for a page from the cache. */
  readonly robots?: RobotsVerdict | { readonly error: string }
}

export interface TraceCache {
  /** `stale`: kept, and the server is asked whether it still holds. */
  readonly decision: CacheAnswer['kind']
  /** When the kept page was downloaded, or last confirmed; ISO 8601. */
  readonly keptAt?: string
  /** Names of the headers that ask for a confirmation. */
  readonly validators?: readonly string[]
}

export interface Trace {
  readonly hops: readonly TraceHop[]
  /** Of the last page, and where it was found. Absent for what is no text. */
  readonly charset?: DetectedCharset
  readonly totalMs: number
}

export interface Tracer {
  /** Steps belong to the hop that is under way: one request at a time. */
  readonly onStep: (step: WireStep) => void
  /** Each request through the answer is a hop. */
  hopsOf(fetcher: Fetcher, purpose: TraceHop['purpose']): Fetcher
  /** What it decides is told of the hop. */
  decisionsOf(gate: CacheGate): CacheGate
  /** Gives what robots.txt says of each page hop that went to a server. Its requests are hops too. */
  judge(verdictOf: (url: string) => Promise<TraceHop['robots']>): Promise<void>
  end(charset: DetectedCharset | undefined): Trace
}

type OpenHop = { -readonly [K in keyof TraceHop]: TraceHop[K] } & { steps: WireStep[] }

export function createTracer(clock: Clock): Tracer {
  const startedMs = clock.monotonicMs()
  const hops: OpenHop[] = []
  const begin = ({ url, method = 'GET' }: FetchRequest, purpose: TraceHop['purpose']): OpenHop => {
    const hop: OpenHop = { purpose, url, method, atMs: clock.monotonicMs() - startedMs, steps: [] }
    hops.push(hop)
    return hop
  }
  return {
    onStep: (step) => hops.at(-1)?.steps.push(step.kind === 'request' ? withoutSecrets(step) : step),
    hopsOf: (fetcher, purpose) => ({
      fetch: async (request) => {
        const hop = begin(request, purpose)
        const result = await fetcher.fetch(request)
        Object.assign(hop, answerOf(result))
        return result
      },
      close: () => fetcher.close(),
    }),
    decisionsOf: (gate) => ({
      lookup: async (request, override) => {
        const answer = await gate.lookup(request, override)
        const hop = hops.at(-1)
        if (hop !== undefined) hop.cache = cacheOf(answer)
        return answer
      },
      fetchThrough: (fetcher, request, answer) => gate.fetchThrough(fetcher, request, answer),
    }),
    judge: async (verdictOf) => {
      for (const hop of hops.filter(({ steps, purpose }) => purpose === 'page' && steps.length > 0)) {
        // oxlint-disable-next-line no-await-in-loop -- a request for robots.txt is one hop after the other
        const robots = await verdictOf(hop.url)
        if (robots !== undefined) hop.robots = robots
      }
    },
    end: (charset) => ({
      hops: hops.map(shownHop),
      ...(charset === undefined ? {} : { charset }),
      totalMs: clock.monotonicMs() - startedMs,
    }),
  }
}

function answerOf(result: FetchResult): Pick<TraceHop, 'response' | 'error'> {
  const { status, headers, wireBytes } = result
  const failed = result.kind === 'failure'
  return {
    ...(status === undefined || headers === undefined
      ? {}
      : {
          response: {
            status,
            headers,
            wireBytes,
            bytes: failed ? 0 : result.body.length,
            ...(failed ? {} : { timings: result.timings }),
          },
        }),
    ...(failed ? { error: `${result.failure}: ${result.error}` } : {}),
  }
}

function cacheOf(answer: CacheAnswer): TraceCache {
  const decision = answer.kind
  switch (answer.kind) {
    case 'hit': {
      const { fetchedAtMs } = answer.response
      return { decision, ...(fetchedAtMs === undefined ? {} : { keptAt: isoOf(fetchedAtMs) }) }
    }
    case 'stale':
      return { decision, keptAt: isoOf(answer.entry.checkedAtMs), validators: Object.keys(answer.validators) }
    case 'miss':
    case 'not-cached':
      return { decision }
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

const SECRETS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie'])

const hidden = (value: string): string => `(${value.length} characters, not shown)`

/** A trace is shown to others: it says that credentials were sent, and not which. */
function withoutSecrets(step: WireStep & { readonly kind: 'request' }): WireStep {
  const headers = step.headers.map(([name, value]): [string, string] =>
    SECRETS.has(name.toLowerCase()) ? [name, hidden(value)] : [name, value],
  )
  return { ...step, headers }
}

/** Those that stand in a URL, and the sessions that the server gives. */
function shownHop(hop: TraceHop): TraceHop {
  const { url, response, error } = hop
  return {
    ...hop,
    url: hideUserinfo(url),
    ...(error === undefined ? {} : { error: hideUserinfo(error) }),
    ...(response === undefined ? {} : { response: { ...response, headers: response.headers.map(shownHeader) } }),
  }
}

function shownHeader([name, value]: readonly [string, string]): [string, string] {
  if (name.toLowerCase() !== 'set-cookie') return [name, hideUserinfo(value)]
  const [, before = '', secret = '', after = ''] = /^([^=;]*=?)([^;]*)(.*)$/s.exec(value) ?? []
  return [name, `${before}${secret === '' ? '' : hidden(secret)}${after}`]
}
