/** How a request for a file ends: its body is kept in the data folder, and its item tells where. */

import { CrawlError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import { headerOf } from '../fetch/headers.ts'
import type { Settlement } from '../frontier/contract.ts'
import { createDecisionDesk } from './decisions.ts'
import { runWithDeadline } from './handler-context.ts'
import { askAboutBuffer, hasHook } from './middleware.ts'
import { createPageBuffer, pushItems } from './page-buffer.ts'
import { answered, outcomeOfThrown, type Story } from './settlement.ts'
import { withVisit } from './visits.ts'

/** Endings of the kinds whose URLs often have none. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/json': 'json',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/csv': 'csv',
}

/** Keeps the body as a file; the item is settled with it. Throws EXPORT_FAILED when it cannot be written. */
export async function settleDownload(story: Story, response: FetchResponse): Promise<Settlement> {
  const buffer = createPageBuffer()
  pushItems(buffer, await keepFile(story, response))
  const settlement = answered(story, response, {
    kind: 'done',
    status: response.status,
    fromCache: response.fromCache === true,
  })
  if (hasHook(story, 'onItem')) {
    const desk = createDecisionDesk()
    const way = { door: story.task.door, buffer, depth: story.lease.request.depth + 1, keepKnownLinks: false }
    const asking = runWithDeadline((signal) => askAboutBuffer({ options: story, way, desk, signal }), 'onItem', story)
    const thrown = await asking.then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    if (thrown !== undefined || desk.taken !== undefined)
      return answered(story, response, outcomeOfThrown(story, { error: thrown?.error, desk, status: response.status }))
  }
  return withVisit(story, response, { ...settlement, items: buffer.items })
}

async function keepFile({ deps, lease }: Story, response: FetchResponse): Promise<JsonObject> {
  const contentType = headerOf(response.headers, 'content-type') ?? ''
  const { file, sha256, bytes } = await deps
    .saveFile(response.body, endingOf(lease.url, contentType))
    .catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error)
      throw new CrawlError('EXPORT_FAILED', { context: { file: 'files/', problem }, cause: error })
    })
  const { url, userData = {} } = lease.request
  const { page = null, ...more } = userData
  const fetchedAt = new Date(response.fetchedAtMs ?? deps.clock.nowMs()).toISOString()
  return { url, finalUrl: lease.url, page, path: file, sha256, bytes, contentType, fetchedAt, ...more }
}

/** As its URL has it, else as its kind does. */
function endingOf(url: string, contentType: string): string {
  const named = /\.([A-Za-z0-9]{1,8})$/.exec(new URL(url).pathname)?.[1]
  return named?.toLowerCase() ?? ENDINGS[contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''] ?? 'bin'
}
