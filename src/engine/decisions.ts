/** What a handler or a hook decides about its page: skip, retry, fail. */

import { CrawlError } from '../core/errors.ts'
import type { PageDecisions } from './contract.ts'

export type PageDecision =
  | { readonly kind: 'skip'; readonly why: string | undefined }
  | { readonly kind: 'retry'; readonly why: string; readonly afterMs: number | undefined }
  | { readonly kind: 'fail'; readonly why: string }

export interface DecisionDesk {
  /** The first decision, whatever became of the error that it was thrown as. */
  readonly taken: PageDecision | undefined
  readonly decisions: PageDecisions
}

const MAX_WHY_CHARS = 2_000

export function createDecisionDesk(): DecisionDesk {
  let taken: PageDecision | undefined
  const decide = (decision: PageDecision): never => {
    taken ??= decision
    throw new CrawlError('PAGE_DECIDED', { context: { decision: decision.kind } })
  }
  return {
    get taken() {
      return taken
    },
    decisions: {
      skip: (why) => decide({ kind: 'skip', why: why === undefined ? undefined : wordsOf(why) }),
      retry: ({ why = 'the handler asked for another try', afterMs } = {}) =>
        decide({ kind: 'retry', why: wordsOf(why), afterMs }),
      fail: (why = 'the handler failed the page') => decide({ kind: 'fail', why: wordsOf(why) }),
    },
  }
}

/** It may come from a page, or from plain JavaScript. */
const wordsOf = (why: unknown): string => String(why).slice(0, MAX_WHY_CHARS)
