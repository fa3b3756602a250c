/** Carries one lease to a settlement whatever happens on the way. */

import { type ErrorCode, isCrawlError } from '../core/errors.ts'
import type { FailedAttempt } from '../core/outcome.ts'
import type { Settlement } from '../frontier/contract.ts'
import { isDownload } from './download-requests.ts'
import { pageRequestOf, runWithDeadline } from './handler-context.ts'
import { createPageBuffer, enqueueDraft, pushItems } from './page-buffer.ts'
import { processRequest } from './process-request.ts'
import { end, failed, type ProcessOptions } from './settlement.ts'

/** What is written beside the pages cannot be written: the page is not at fault, and is left for the next run. */
const ENDS_THE_CRAWL: ReadonlySet<ErrorCode> = new Set(['STORE_FULL', 'EXPORT_FAILED'])

export async function runLease(given: ProcessOptions): Promise<Settlement> {
  const { lease, signal } = given
  let options = given
  let settlement: Settlement
  try {
    if (given.task.routeOf !== undefined && !isDownload(lease.request))
      options = { ...given, task: given.task.routeOf(lease) }
    settlement = await processRequest(options)
  } catch (error) {
    if (signal.aborted) return end(lease, { kind: 'released' })
    if (isCrawlError(error) && ENDS_THE_CRAWL.has(error.code)) throw error
    // a fault of ours on one page must not end the crawl, nor be silent
    options.deps.log.error({ url: lease.url, err: stackOf(error) }, 'a page could not be processed')
    settlement = end(lease, failed({ failure: 'protocol', error: stackOf(error) }))
  }
  const { outcome } = settlement
  if (outcome.kind !== 'failed' || options.task.onFailed === undefined) return settlement
  return { ...settlement, ...(await tellFailed(options, outcome.attempt)) }
}

/** The failed-request handler's requests and items are settled with the failure. */
async function tellFailed(
  options: ProcessOptions,
  failure: FailedAttempt,
): Promise<Pick<Settlement, 'discovered' | 'items'>> {
  const { deps, task, lease, signal } = options
  const buffer = createPageBuffer()
  const way = { door: task.door, buffer, depth: lease.request.depth + 1, keepKnownLinks: false }
  try {
    await runWithDeadline(
      () =>
        task.onFailed?.({
          request: pageRequestOf(lease),
          failure,
          error: new Error(failure.error),
          log: deps.log,
          pushData: async (data) => {
            pushItems(buffer, data)
          },
          addRequests: async (requests) => {
            for (const draft of requests) enqueueDraft(way, draft, lease.url)
          },
        }),
      task.onFailed?.name ?? 'failedRequestHandler',
      options,
    )
  } catch (error) {
    if (!signal.aborted) deps.log.error({ url: lease.url, err: stackOf(error) }, 'failedRequestHandler threw')
  }
  return { discovered: buffer.discovered, items: buffer.items }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
