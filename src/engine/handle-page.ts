/** A good answer reaches its handler; what that finds and pushes becomes one settlement. */

import type { JsonObject } from '../core/json.ts'
import type { PageRefresh } from '../extract/contract.ts'
import { parseRefreshHeader } from '../extract/link-header.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import { headerOf, headersAll } from '../fetch/headers.ts'
import { renderedFilesOf } from '../fetch/rendered.ts'
import type { Settlement } from '../frontier/contract.ts'
import { pageItem, type PageItemOptions } from '../items/page-item.ts'
import { robotsDirectives } from '../robots/tags.ts'
import type { EngineTask, Exchange, Page, RequestDraft, RequestHandler } from './contract.ts'
import { followHop, hopOf, MAX_HOPS } from './redirect.ts'
import { createHandlerContext, runWithDeadline } from './handler-context.ts'
import {
  createPageBuffer,
  type Doorway,
  enqueueDraft,
  enqueuePageLinks,
  type PageBuffer,
  pushItems,
} from './page-buffer.ts'
import { trapRefusal } from './enqueue.ts'
import { MAX_FIELD_CHARS, MAX_SCAN_CHARS, type OpenPage, openPage } from './page.ts'
import { keptLinksOf } from './page-links.ts'
import { createDecisionDesk, type DecisionDesk } from './decisions.ts'
import { enqueueFound } from './download-requests.ts'
import { takeOutput } from './handler-output.ts'
import { askAboutBuffer, hasHook } from './middleware.ts'
import { answered, outcomeOfThrown, type Story } from './settlement.ts'
import { withVisit } from './visits.ts'

/** A refresh that is due within a second (in seconds) is meant as a redirect. */
const INSTANT_S = 1

/** Text and links of such a body weigh several times as much: the command's own handler takes them one after the other. */
const HUGE_BODY_BYTES = 256 * 1024
/** Of this process, whose memory it is about. */
let hugePages: Promise<unknown> = Promise.resolve()

export function handlePage(story: Story, response: FetchResponse): Promise<Settlement> {
  if (response.body.length <= HUGE_BODY_BYTES || story.task.handler.kind === 'user') return handleNow(story, response)
  const handling = hugePages.then(() => handleNow(story, response))
  hugePages = handling.catch(() => undefined) // whoever asked for it hears of it
  return handling
}

async function handleNow(story: Story, response: FetchResponse): Promise<Settlement> {
  const { task, lease } = story
  const opened = openPage(response, task.page)
  const page = opened instanceof Promise ? await opened : opened
  const buffer = createPageBuffer()
  const way: Doorway = {
    door: task.door,
    buffer,
    depth: lease.request.depth + 1,
    keepKnownLinks: task.settings.maxDepth !== undefined,
    refresh: refreshOf(page, response),
  }
  const exchange: Exchange = { lease, task, response, fromCache: response.fromCache === true }
  const refreshed = await followRefresh({ story, exchange, page, way })
  if (refreshed !== undefined) return refreshed
  const desk = createDecisionDesk()
  try {
    // before its links: what is both is kept as a file
    if (task.downloads !== undefined && page.isHtml)
      await enqueueFound({ way, page: lease.request.url }, page, task.downloads)
    const handling = { story, exchange, page, way }
    if (task.handler.kind === 'user' || asksAboutBuffer(story)) await runInTime(handling, desk)
    else await recordPage(handling)
    if (buffer.adding.length > 0) await Promise.all(buffer.adding)
  } catch (error) {
    return settleThrown(story, response, { error, desk })
  }
  return desk.taken === undefined
    ? withVisit(story, response, await settlePage({ story, exchange, page, way }))
    : settleThrown(story, response, { error: undefined, desk })
}

const asksAboutBuffer = (story: Story): boolean => hasHook(story, 'beforeEnqueue') || hasHook(story, 'onItem')

function settleThrown(
  story: Story,
  response: FetchResponse,
  thrown: { readonly error: unknown; readonly desk: DecisionDesk },
): Settlement {
  return answered(story, response, outcomeOfThrown(story, { ...thrown, status: response.status }))
}

/** Only a page with more links than this can have had some left out. */
const MANY_LINKS = 1000

/** What a page is cut at, and what of it is dropped, is told; it is far beyond what pages hold. */
function tellCuts({ deps, lease }: Story, page: OpenPage): void {
  const { url } = lease
  const { foundCount } = page.scan
  if (page.invalidItems > 0)
    deps.log.warn({ url, dropped: page.invalidItems }, 'items that are not as expected are dropped')
  const dropped = foundCount > MANY_LINKS ? page.scan.droppedLinks : 0
  if (dropped > 0) deps.log.warn({ url, links: foundCount, dropped }, 'a page has more links than are followed')
  if (page.body.length > MAX_SCAN_CHARS && page.text.length > MAX_SCAN_CHARS) {
    deps.log.warn({ url, chars: page.text.length, read: MAX_SCAN_CHARS }, 'a page is read for links in part only')
  }
  if (page.isExtracted && page.body.length > MAX_FIELD_CHARS && page.text.length > MAX_FIELD_CHARS) {
    deps.log.warn({ url, chars: page.text.length, read: MAX_FIELD_CHARS }, 'a page is searched for fields in part only')
  }
}

interface Handling {
  readonly story: Story
  readonly exchange: Exchange
  readonly page: OpenPage
  readonly way: Doorway
}

/**
 * A page that sends its readers on at once is a redirect (a longer refresh is a link like any other: a slide show is
 * made of pages). Undefined: it does not, or leads where the crawl may not go; then it is a page.
 */
async function followRefresh({ story, exchange, page, way }: Handling): Promise<Settlement | undefined> {
  const { deps, task, lease } = story
  const { refresh } = way
  if (refresh === undefined || refresh.seconds > INSTANT_S || refresh.url === page.url) return undefined
  const cookiesOf = (url: string): string => deps.cookiesVersion(task.settings.name, url)
  const outcome = followHop({
    lease,
    hop: hopOf(lease.url, cookiesOf(lease.url)),
    target: refresh.url,
    targetCookies: cookiesOf(refresh.url),
    status: exchange.response.status,
    door: task.door,
  })
  // pages that send each other on without end are no pages; a page that sends its readers back is one
  if (outcome.kind === 'failed' && lease.hops.length >= MAX_HOPS) return answered(story, exchange.response, outcome)
  if (outcome.kind !== 'redirected') return undefined
  await enqueuePageLinks(way, page, isNofollow(page, exchange, story.deps.clock.nowMs()))
  return { ...(await settlePage({ story, exchange, page, way })), outcome }
}

function refreshOf(page: Page, response: FetchResponse): PageRefresh | undefined {
  const header = headerOf(response.headers, 'refresh')
  if (header === undefined) return page.scan.refresh
  const parsed = parseRefreshHeader(header)
  if (parsed === undefined || !URL.canParse(parsed.href, page.url)) return page.scan.refresh
  const target = new URL(parsed.href, page.url)
  target.hash = ''
  return /^https?:$/.test(target.protocol) ? { url: target.href, seconds: parsed.seconds } : page.scan.refresh
}

/** The command's own handler: follow every link, push the page's record. */
async function recordPage({ story, exchange, page, way }: Handling): Promise<void> {
  await enqueuePageLinks(way, page, isNofollow(page, exchange, story.deps.clock.nowMs()))
  const { lease, response, fromCache, task } = exchange
  const fields = task.fields === undefined ? undefined : await page.fields(task.fields)
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
      links: page.scan.linkCount,
      fetchedAtMs: response.fetchedAtMs ?? story.deps.clock.nowMs(),
      fromCache,
      noindex: directivesOf(page, exchange, story.deps.clock.nowMs()).noindex,
      canonical: page.scan.canonical,
      ...(task.render === undefined ? {} : renderedPart(response)),
      ...(fields === undefined ? {} : { fields }),
    }),
  })
}

function renderedPart({ headers }: FetchResponse): Pick<PageItemOptions, 'rendered'> {
  const rendered = renderedFilesOf(headers)
  return rendered === undefined ? {} : { rendered }
}

/** User code: it has a deadline, and decides about its page. */
async function runInTime(handling: Handling, desk: DecisionDesk): Promise<void> {
  const { story, way } = handling
  const { task } = story
  await runWithDeadline(
    async (stop) => {
      if (task.handler.kind === 'user') await callHandler(handling, { desk, signal: stop, handle: task.handler.handle })
      else await recordPage(handling)
      if (!asksAboutBuffer(story)) return
      if (way.buffer.adding.length > 0) await Promise.all(way.buffer.adding)
      await askAboutBuffer({ options: story, way, desk, signal: stop })
    },
    nameOfHandler(task),
    story,
  )
}

/** As people know it: its rule and its function, as far as they have names. */
function nameOfHandler({ ruleName, handler }: EngineTask): string {
  const own = handler.kind === 'user' ? handler.handle.name : 'hooks'
  if (ruleName === undefined) return own === '' ? 'requestHandler' : own
  // `handler` is what a function is called that was written right into its rule
  return own === '' || own === 'handler' || own === ruleName ? ruleName : `${ruleName} (${own})`
}

async function callHandler(
  { story, exchange, page, way }: Handling,
  call: { readonly desk: DecisionDesk; readonly signal: AbortSignal; readonly handle: RequestHandler },
): Promise<void> {
  const { deps } = story
  const { desk, signal } = call
  const pageNofollow = isNofollow(page, exchange, deps.clock.nowMs())
  const { decisions } = desk
  const output: unknown = await call.handle(
    createHandlerContext({ exchange, page, way, pageNofollow, decisions, log: deps.log, signal }),
  )
  if (output === undefined) return
  const sink = {
    request: (draft: string | RequestDraft) => {
      enqueueDraft(way, draft, page.scan.base)
    },
    item: (data: JsonObject) => {
      pushItems(way.buffer, data)
    },
  }
  await takeOutput(output, { sink, signal })
}

function isNofollow(page: Page, exchange: Exchange, nowMs: number): boolean {
  return directivesOf(page, exchange, nowMs).nofollow
}

const NO_DIRECTIVES = { noindex: false, nofollow: false }

function directivesOf(
  page: Page,
  { response, task }: Exchange,
  nowMs: number,
): { readonly noindex: boolean; readonly nofollow: boolean } {
  const xRobotsTag = headersAll(response.headers, 'x-robots-tag')
  if (page.scan.robots.length === 0 && xRobotsTag.length === 0) return NO_DIRECTIVES
  return robotsDirectives({ metas: page.scan.robots, xRobotsTag, agent: task.page.agent, nowMs })
}

async function settlePage({ story, exchange: { response }, page, way }: Handling): Promise<Settlement> {
  const { contentTrapOf } = story.task
  const { buffer } = way
  tellCuts(story, page)
  const rule = buffer.discovered.length > 0 ? contentTrapOf?.(response.url, response.body) : undefined
  if (rule !== undefined) trapAll(buffer, rule)
  if (buffer.discovered.length > MAX_SETTLED_LINKS) await addAhead(story, way)
  const { lease, outcome, host, counts } = answered(story, response, {
    kind: 'done',
    status: response.status,
    fromCache: response.fromCache === true,
  })
  const { discovered, items, knownLinks, duplicates, invalidUrls } = buffer
  // filled one by one: nearly all settlements then have one shape
  const settlement: { -readonly [K in keyof Settlement]: Settlement[K] } = { lease, outcome, discovered, items, host }
  settlement.counts = Object.assign({ duplicates, invalidUrls }, counts)
  if (page.invalidItems > 0) settlement.counts = { ...settlement.counts, invalidItems: page.invalidItems }
  if (knownLinks.length > 0) settlement.knownLinks = knownLinks
  if (story.task.keepsLinks === true) settlement.links = await keptLinksOf(page, response, way)
  return settlement
}

/** New links that are settled with their page: what a store writes in one step without holding up others. */
const MAX_SETTLED_LINKS = 10_000

/**
 * Those of a larger page are added before it, in many small steps. A crash in between leaves them there and the page to
 * be fetched again: nothing is lost and nothing is there twice.
 */
async function addAhead({ deps, task }: Story, { buffer, keepKnownLinks }: Doorway): Promise<void> {
  const ahead = buffer.discovered.splice(0, buffer.discovered.length - MAX_SETTLED_LINKS)
  await deps.store.frontier.add(ahead)
  task.door.note(ahead)
  if (!keepKnownLinks) return
  for (const { fingerprint } of ahead) buffer.knownLinks.push(fingerprint)
}

/** One page under endless names: where it leads is not followed, but counted. */
function trapAll({ discovered }: PageBuffer, rule: string): void {
  for (const [index, request] of discovered.entries()) discovered[index] = { ...trapRefusal(rule), ...request }
}
