/** One page shown to the browser until it is ready, and read. */

import type { Cookie } from 'playwright-core'
import type { FetchRequest, FetchResponse, RenderedFileKind, RenderRequest } from '../contract.ts'
import { bringCookies, takeCookies } from './jar.ts'
import { saveFile } from '../../util/save-file.ts'
import type { Slot } from './slot.ts'
import { takeSnapshot } from './snapshot.ts'
import { Traffic, type TrafficCounts, type TrafficDeps } from './traffic.ts'
import { unlessAborted } from './unless-aborted.ts'
import { describeWait, loadUntilReady } from './wait.ts'

export interface VisitPlan {
  readonly request: FetchRequest
  readonly render: RenderRequest
  /** What the server answered. */
  readonly document: FetchResponse
  /** Where files go. */
  readonly dir: string
  readonly maxBodyBytes: number
}

export type SavedFiles = Readonly<Partial<Record<RenderedFileKind, string>>>

type VisitEnd =
  | {
      readonly kind: 'ready'
      readonly html: string
      /** What relative links are resolved against: scripts may have changed the address. */
      readonly url: string
      readonly files: SavedFiles
      /** The deadline passed before the page came to rest: this is what it was then. */
      readonly restless: boolean
    }
  /** Its scripts lead on: to itself with cookies that they have set, or elsewhere. */
  | { readonly kind: 'moved'; readonly to: string }
  /** Its scripts left it half read: what the server sent is more. */
  | { readonly kind: 'as-sent' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'failed'; readonly error: string }

export type Visit = VisitEnd & {
  readonly counts: TrafficCounts
  /** What the page asks for is answered until this is called. */
  readonly leave: () => void
}

/** After the deadline: to read the page as it is. */
const GRACE_MS = 3000
/** A picture or a PDF of a page takes no longer. */
const SAVE_MS = 20_000

class Late extends Error {}

interface Context {
  readonly slot: Slot
  readonly plan: VisitPlan
  readonly deps: TrafficDeps
  readonly traffic: Traffic
  readonly session: string
  readonly before: readonly Cookie[]
  readonly signal: AbortSignal
}

/** Rejects only when the request's signal aborts. The slot can be used again after `ready`, `moved` and `as-sent` alone. */
export async function visitPage(slot: Slot, plan: VisitPlan, deps: TrafficDeps): Promise<Visit> {
  const { request, render, document } = plan
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, slot.gone, ...(request.signal === undefined ? [] : [request.signal])])
  const moves = watchMoves(request.url)
  const traffic = new Traffic(
    { session: slot.cdp, mainFrameId: slot.mainFrameId, request, render, document, signal, onNavigate: moves.note },
    deps,
  )
  const session = request.session ?? 'default'
  slot.uses++
  slot.onPaused = (paused) => void traffic.take(paused)
  const leave = (): void => {
    stop.abort(new Error('the visit has ended'))
    slot.onPaused = undefined
  }
  const { counts } = traffic
  try {
    await pretend(slot, request, deps)
    const before = await unlessAborted(bringCookies(slot.context, deps.jars, { session, url: request.url }), signal)
    const end = await stay({ slot, plan, deps, traffic, session, before, signal }, moves)
    return { ...end, counts, leave }
  } catch (error) {
    leave()
    request.signal?.throwIfAborted()
    const why: unknown = slot.gone.aborted ? slot.gone.reason : error
    return { kind: 'failed', error: wordsOf(why), counts, leave }
  }
}

/** Scripts see the agent that the server saw. */
async function pretend({ cdp }: Slot, { session, url }: FetchRequest, { userAgentFor }: TrafficDeps): Promise<void> {
  const userAgent = userAgentFor?.(session ?? 'default', url)
  if (userAgent !== undefined) await cdp.send('Emulation.setUserAgentOverride', { userAgent })
}

interface Moves {
  readonly note: (url: string) => void
  /** Resolves with where the page leads, if it leads elsewhere. */
  readonly elsewhere: Promise<string>
  /** Resolves when the page asks to be loaded again. */
  readonly again: Promise<void>
  isReloading(): boolean
}

function watchMoves(own: string): Moves {
  let reloading = false
  let leave: ((url: string) => void) | undefined
  let reload: (() => void) | undefined
  const again = new Promise<void>((resolve) => {
    reload = resolve
  })
  const elsewhere = new Promise<string>((resolve) => {
    leave = resolve
  })
  return {
    note: (url) => {
      if (url !== own) {
        leave?.(url)
        return
      }
      reloading = true
      reload?.()
    },
    elsewhere,
    again,
    isReloading: () => reloading,
  }
}

async function stay(context: Context, moves: Moves): Promise<VisitEnd> {
  const { slot, plan, deps, session, before, signal } = context
  const { url } = plan.request
  const loaded = await Promise.race([load(context, moves), moves.elsewhere.then((to) => ({ to }))])
  const taking = takeCookies(slot.context, deps.jars, { session, url, before })
  const hasNews = await unlessAborted(taking, signal)
  if (typeof loaded === 'object') return { kind: 'moved', to: loaded.to }
  if (moves.isReloading() && hasNews) return { kind: 'moved', to: url }
  if (loaded === 'stopped') return { kind: 'as-sent' }
  return read(context, loaded === 'restless')
}

/** `restless`: the deadline passed, and the page is to be taken as it is. */
async function load(context: Context, { again }: Moves): Promise<'ready' | 'stopped' | 'restless'> {
  const { slot, plan, deps, traffic, signal } = context
  const { wait, timeoutMs } = plan.render
  const { url } = plan.request
  const options = { slot, url, wait, activity: traffic, clock: deps.clock, signal, reloading: again }
  const expected = `expected ${describeWait(wait)} within ${timeoutMs} ms`
  try {
    return await withDeadline(loadUntilReady(options), { ms: timeoutMs, expected }, { signal, deps })
  } catch (error) {
    if (error instanceof Late && wait === 'networkidle') return 'restless'
    throw error
  }
}

async function read(context: Context, restless: boolean): Promise<VisitEnd> {
  const { slot, plan } = context
  const reading = takeSnapshot(slot.cdp, slot.mainFrameId, plan.maxBodyBytes)
  const expected = 'expected a page whose scripts leave time to read it'
  const snapshot = await withDeadline(reading, { ms: GRACE_MS, expected }, context)
  if (snapshot.kind === 'too-large') return snapshot
  const { html, url } = snapshot
  return { kind: 'ready', html, url, restless, files: await saveFiles(context) }
}

async function saveFiles(context: Context): Promise<SavedFiles> {
  const { slot, plan } = context
  const files: Partial<Record<RenderedFileKind, string>> = {}
  for (const kind of plan.render.save) {
    const taking = kind === 'pdf' ? slot.page.pdf() : slot.page.screenshot({ fullPage: true, timeout: 0 })
    const limit = { ms: SAVE_MS, expected: `expected a ${kind} of the page` }
    // oxlint-disable-next-line no-await-in-loop -- a page is drawn once at a time
    const bytes = await withDeadline(taking, limit, context)
    // oxlint-disable-next-line no-await-in-loop -- see above
    files[kind] = (await saveFile(plan.dir, bytes, kind === 'pdf' ? 'pdf' : 'png')).file
  }
  return files
}

async function withDeadline<T>(
  work: Promise<T>,
  { ms, expected }: { readonly ms: number; readonly expected: string },
  { signal, deps }: Pick<Context, 'signal' | 'deps'>,
): Promise<T> {
  const deadline = new AbortController()
  const cancel = deps.clock.timer(ms, () => {
    deadline.abort(new Late(`${expected}, found a page that is still at work`))
  })
  try {
    return await unlessAborted(work, AbortSignal.any([signal, deadline.signal]))
  } finally {
    cancel()
  }
}

/** The first line: playwright's call log follows. */
function wordsOf(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return first.slice(0, 300)
}
