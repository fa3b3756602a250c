/** Calls the hooks of a task around its pages, and makes endings of what they decide. */

import type { Outcome } from '../core/outcome.ts'
import type { StoredRequest } from '../core/request.ts'
import type { FetchRequest, FetchResponse } from '../fetch/contract.ts'
import type { ItemDraft } from '../items/contract.ts'
import { nextTurn } from '../util/next-turn.ts'
import type { HookContext, Middleware, RequestDraft } from './contract.ts'
import { createDecisionDesk, type DecisionDesk } from './decisions.ts'
import { pageRequestOf, pageResponseOf, runWithDeadline } from './handler-context.ts'
import { createPageBuffer, type Doorway, enqueueDraft, pushItems } from './page-buffer.ts'
import { outcomeOfThrown, type ProcessOptions } from './settlement.ts'

type HookName = 'beforeFetch' | 'afterFetch'

/** Requests and items that hooks are asked about before others get their turn. */
const ASKED_A_TURN = 500

export function hasHook({ task }: ProcessOptions, name: keyof Middleware): boolean {
  return task.middleware?.some((one) => one[name] !== undefined) === true
}

/** What is sent, changed by the hooks; or how the request ends. */
export async function runBeforeFetch(options: ProcessOptions, request: FetchRequest): Promise<FetchRequest | Outcome> {
  const headers = { ...request.headers }
  const outcome = await runHooks(options, 'beforeFetch', { headers })
  return outcome ?? { ...request, headers: lowerCased(headers) }
}

/** Undefined: the answer goes its way. */
export function runAfterFetch(options: ProcessOptions, response: FetchResponse): Promise<Outcome | undefined> {
  return runHooks(options, 'afterFetch', { response: pageResponseOf(response), body: response.body })
}

async function runHooks(
  options: ProcessOptions,
  name: HookName,
  more: { readonly headers: Record<string, string> } | Pick<Parameters<AfterFetch>[0], 'response' | 'body'>,
): Promise<Outcome | undefined> {
  const desk = createDecisionDesk()
  try {
    await runWithDeadline(
      async (signal) => {
        for (const one of options.task.middleware ?? []) {
          const hook = one[name] as ((context: HookContext) => unknown) | undefined
          // oxlint-disable-next-line no-await-in-loop -- one middleware after the other
          await hook?.({ ...hookContextOf(options, desk, signal), ...more })
        }
      },
      name,
      options,
    )
    if (desk.taken === undefined) return undefined
  } catch (error) {
    return outcomeOfThrown(options, { error, desk })
  }
  return outcomeOfThrown(options, { error: undefined, desk })
}

type AfterFetch = NonNullable<Middleware['afterFetch']>

export interface BufferHooks {
  readonly options: ProcessOptions
  readonly way: Doorway
  readonly desk: DecisionDesk
  readonly signal: AbortSignal
}

/** Asks about what a page has found and pushed, right before it is settled. */
export async function askAboutBuffer(hooks: BufferHooks): Promise<void> {
  if (hasHook(hooks.options, 'beforeEnqueue')) await askAboutRequests(hooks)
  if (hasHook(hooks.options, 'onItem')) await askAboutItems(hooks)
}

async function askAboutRequests({ options, way, desk, signal }: BufferHooks): Promise<void> {
  const { discovered } = way.buffer
  const context = hookContextOf(options, desk, signal)
  const kept: StoredRequest[] = []
  for (const [index, request] of discovered.entries()) {
    // oxlint-disable no-await-in-loop -- one request after the other
    if (index % ASKED_A_TURN === ASKED_A_TURN - 1) await nextTurn()
    signal.throwIfAborted()
    if (request.skip === undefined) kept.push(...(await askAboutRequest(request, { options, way, context })))
    else kept.push(request)
    // oxlint-enable no-await-in-loop
  }
  discovered.splice(0, discovered.length)
  for (const request of kept) discovered.push(request)
}

interface Asking {
  readonly options: ProcessOptions
  readonly way: Doorway
  readonly context: HookContext
}

async function askAboutRequest(
  request: StoredRequest,
  { options, way, context }: Asking,
): Promise<readonly StoredRequest[]> {
  const draft = draftOf(request)
  let now = draft
  for (const { beforeEnqueue } of options.task.middleware ?? []) {
    // oxlint-disable-next-line no-await-in-loop -- each sees what the one before has made of it
    const answer = await beforeEnqueue?.(now, context)
    if (answer === false) return [{ ...request, skip: 'filtered' }]
    now = answer ?? now
  }
  if (now === draft) return [request]
  // changed: through the door again, as if the page had it so
  const buffer = createPageBuffer()
  enqueueDraft({ ...way, buffer }, now, request.url)
  way.buffer.duplicates += buffer.duplicates
  way.buffer.invalidUrls += buffer.invalidUrls
  for (const link of buffer.knownLinks) way.buffer.knownLinks.push(link)
  return buffer.discovered
}

function draftOf(request: StoredRequest): RequestDraft {
  const { task: _task, fingerprint: _fingerprint, hostKey: _host, depth: _depth, skip: _skip, ...draft } = request
  return draft
}

async function askAboutItems({ options, way, desk, signal }: BufferHooks): Promise<void> {
  const { items } = way.buffer
  const context = hookContextOf(options, desk, signal)
  const kept: ItemDraft[] = []
  for (const [index, item] of items.entries()) {
    // oxlint-disable no-await-in-loop -- one item after the other
    if (index % ASKED_A_TURN === ASKED_A_TURN - 1) await nextTurn()
    signal.throwIfAborted()
    const data = await askAboutItem(item.data, options, context)
    // oxlint-enable no-await-in-loop
    if (data === item.data) kept.push(item)
    else if (data !== undefined) kept.push({ ...item, data })
  }
  items.splice(0, items.length)
  for (const item of kept) items.push(item)
}

/** Undefined: it is left out. */
async function askAboutItem(
  data: ItemDraft['data'],
  { task }: ProcessOptions,
  context: HookContext,
): Promise<ItemDraft['data'] | undefined> {
  let now = data
  for (const { onItem } of task.middleware ?? []) {
    // oxlint-disable-next-line no-await-in-loop -- each sees what the one before has made of it
    const answer = await onItem?.(now, context)
    if (answer === false) {
      context.log.debug({ url: context.request.url }, 'onItem has left out an item')
      return undefined
    }
    now = answer ?? now
  }
  if (now === data) return data
  const buffer = createPageBuffer()
  pushItems(buffer, now)
  return buffer.items[0]?.data
}

function hookContextOf({ deps, lease }: ProcessOptions, desk: DecisionDesk, signal: AbortSignal): HookContext {
  return { ...desk.decisions, request: pageRequestOf(lease), log: deps.log, signal }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
