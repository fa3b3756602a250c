/** Tasks as people write them. */

import type { AnyLabels, FailedContext, Middleware, RequestDraft, RequestHandler } from '../engine/contract.ts'
import type { Fetcher } from '../fetch/contract.ts'
import type { TaskDescription } from '../tasks/contract.ts'
import type { Routing } from './router.ts'
import type { Rule } from './rule.ts'

/** A named crawl. `L` declares the user data of each label. */
export type Task<L extends object = AnyLabels> = TaskDescription<
  RequestDraft,
  readonly Rule<L>[] | Routing,
  RequestHandler<L>,
  (context: FailedContext) => unknown,
  Middleware,
  'http' | 'browser' | 'auto' | Pick<Fetcher, 'fetch'>
>

/**
 * Describes a task, for `spoor run` and for the `tasks` of a `Crawler`. It is checked when it is run, all problems of all
 * tasks at once (CONFIG_INVALID).
 */
export function defineTask<L extends object = AnyLabels>(task: Task<L>): Task {
  return Object.freeze({ ...task }) as unknown as Task
}
