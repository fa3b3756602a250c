/** OpenTelemetry spans, one for each page, where the program has registered a provider of traces. */

import type * as Api from '@opentelemetry/api'
import type { Outcome } from '../core/outcome.ts'
import type { EngineDeps } from '../engine/contract.ts'
import type { Lease } from '../frontier/contract.ts'
import { loadLate } from '../util/load-late.ts'

type TracePage = NonNullable<EngineDeps['tracePage']>

/** Where the API package keeps what was registered, whichever copy of it did so. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')
const api = loadLate<typeof Api>('@opentelemetry/api')

/** Undefined: nobody has registered a provider, or the package cannot be found from here. */
export function createPageTracer(): TracePage | undefined {
  const registered = (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED]
  if (registered?.trace === undefined) return undefined
  try {
    return tracePages(api())
  } catch {
    return undefined // an optional peer: without it there is nobody to tell
  }
}

function tracePages({ trace, SpanStatusCode }: typeof Api): TracePage {
  const tracer = trace.getTracer('spoor')
  return (lease, run) =>
    tracer.startActiveSpan('spoor.page', { attributes: attributesOf(lease) }, async (span) => {
      try {
        const settlement = await run()
        const { outcome } = settlement
        span.setAttribute('spoor.outcome', outcome.kind)
        if (outcome.kind === 'done') span.setAttribute('http.response.status_code', outcome.status)
        const failure = failureOf(outcome)
        if (failure !== undefined) {
          span.setAttribute('error.type', failure.failure)
          if (failure.status !== undefined) span.setAttribute('http.response.status_code', failure.status)
          span.setStatus({ code: SpanStatusCode.ERROR, message: failure.error })
        }
        return settlement
      } finally {
        span.end()
      }
    })
}

function attributesOf({ url, request, attempt }: Lease): Record<string, string | number> {
  return {
    'url.full': withoutCredentials(url),
    'spoor.task': request.task,
    'spoor.depth': request.depth,
    'spoor.attempt': attempt,
  }
}

const withoutCredentials = (url: string): string => url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1')

function failureOf(outcome: Outcome): Extract<Outcome, { kind: 'failed' }>['attempt'] | undefined {
  return outcome.kind === 'failed' || outcome.kind === 'retry' ? outcome.attempt : undefined
}
