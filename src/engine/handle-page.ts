/** A good answer reaches its handler; what that finds and pushes becomes one settlement. */

import type { FailedAttempt } from '../core/outcome.ts'
import { isCrawlError } from '../core/errors.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import { headersAll } from '../fetch/headers.ts'
import type { Settlement } from '../frontier/contract.ts'
import { pageItem } from '../items/page-item.ts'
import { robotsDirectives } from '../robots/tags.ts'
import type { Exchange, Page } from './contract.ts'
import { createHandlerContext, runWithDeadline } from './handler-context.ts'
import { createPageBuffer, type Doorway, enqueuePageLinks, type PageBuffer } from './page-buffer.ts'
import { createPage } from './page.ts'
import { answered, failed, retryOrFail, type Story } from './settlement.ts'

export async function handlePage(story: Story, response: FetchResponse): Promise<Settlement> {
  const { task, lease } = story
  const page = createPage(response, task.page)
  const buffer = createPageBuffer()
  const way: Doorway = {
    door: task.door,
    buffer,
    depth: lease.request.depth + 1,
    keepKnownLinks: task.settings.maxDepth !== undefined,
  }
  const exchange: Exchange = { lease, task, response, fromCache: false }
  try {
    if (task.handler.kind === 'page-record') recordPage({ story, exchange, page, way })
    else await runHandler({ story, exchange, page, way })
  } catch (error) {
    return settleThrown(story, response, error)
  }
  return settlePage(story, response, buffer)
}

interface Handling {
  readonly story: Story
  readonly exchange: Exchange
  readonly page: Page
  readonly way: Doorway
}

/** The command's own handler: follow every link, push the page's record. */
function recordPage({ story, exchange, page, way }: Handling): void {
  enqueuePageLinks(way, page, isNofollow(page, exchange))
  const { lease, response, fromCache, task } = exchange
  way.buffer.items.push({
    isPage: true,
    data: pageItem({
      url: lease.request.url,
      finalUrl: lease.url,
      status: response.status,
      depth: lease.request.depth,
      title: page.title,
      contentType: page.contentType,
      bytes: response.body.length,
      links: page.scan.links.length,
      fetchedAtMs: story.deps.clock.nowMs(),
      fromCache,
      ...(task.fieldsOf === undefined ? {} : { fields: task.fieldsOf(page) }),
    }),
  })
}

async function runHandler({ story, exchange, page, way }: Handling): Promise<void> {
  const { deps, task, lease, signal } = story
  const { handler } = task
  if (handler.kind !== 'user') return
  await runWithDeadline(
    (stop) =>
      handler.handle(
        createHandlerContext({
          exchange,
          page,
          way,
          pageNofollow: isNofollow(page, exchange),
          log: deps.log,
          signal: stop,
        }),
      ),
    { clock: deps.clock, timeoutMs: task.handlerTimeoutMs, url: lease.url, signal },
  )
}

function isNofollow(page: Page, { response, task }: Exchange): boolean {
  const xRobotsTag = headersAll(response.headers, 'x-robots-tag')
  if (page.scan.robots.length === 0 && xRobotsTag.length === 0) return false
  return robotsDirectives({ metas: page.scan.robots, xRobotsTag, agent: task.page.agent }).nofollow
}

function settlePage(story: Story, response: FetchResponse, buffer: PageBuffer): Settlement {
  const settlement = answered(story, response, { kind: 'done', status: response.status, fromCache: false })
  const { duplicates, invalidUrls } = buffer
  return {
    ...settlement,
    discovered: buffer.discovered,
    items: buffer.items,
    counts: { ...settlement.counts, duplicates, invalidUrls },
    ...(buffer.knownLinks.length > 0 ? { knownLinks: buffer.knownLinks } : {}),
  }
}

/** A handler that throws fails its page, with its stack; the crawl goes on. */
function settleThrown(story: Story, response: FetchResponse, error: unknown): Settlement {
  const { deps, lease, signal } = story
  if (signal.aborted) throw signal.reason
  const attempt: FailedAttempt = { failure: 'handler', status: response.status, error: describe(error) }
  deps.log.debug({ url: lease.url, err: attempt.error }, 'handler failed')
  const final = isCrawlError(error) && !error.retryable
  return answered(story, response, final ? failed(attempt) : retryOrFail(story, attempt, undefined))
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.stack ?? `${error.name}: ${error.message}`
  return `a handler threw ${String(error)}, which is no Error`
}
