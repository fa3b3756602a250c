/** What a handler returns or yields, told apart: requests to follow and items to keep. */

import type { JsonObject } from '../core/json.ts'
import { CrawlError } from '../core/errors.ts'
import { nextTurn } from '../util/next-turn.ts'
import type { RequestDraft } from './contract.ts'

const brand = Symbol.for('spoor.follow')

/** A request as a handler returns or yields it: other objects are items. */
export interface FollowRequest {
  readonly [brand]: RequestDraft
}

/**
 * A request for a handler to return or yield. `url` may be relative to the page. A string or a URL alone is followed as
 * well; this gives it a label, user data, a priority and so on.
 */
export function follow(url: string | URL, draft: Omit<RequestDraft, 'url'> = {}): FollowRequest {
  return { [brand]: { ...draft, url: String(url) } }
}

export interface OutputSink {
  request(draft: string | RequestDraft): void
  item(data: JsonObject): void
}

export interface OutputOptions {
  readonly sink: OutputSink
  /** Ends what goes on yielding. */
  readonly signal: AbortSignal
}

/** Of one page: whatever yields more does not end. */
const MAX_PIECES = 250_000
/** After so many pieces others get their turn, and deadlines are heard of. */
const PIECES_A_TURN = 500

/** Takes what a handler returned: see `RequestHandler`. Rejects for a piece that is neither request nor item. */
export async function takeOutput(output: unknown, options: OutputOptions): Promise<void> {
  if (Array.isArray(output)) await takeAll(output[Symbol.iterator](), options)
  else if (isIterator(output)) await takeAll(output, options)
  else if (isPiece(output)) takePiece(output, options.sink)
  // anything else an arrow function returns by the way
}

type Pieces = Iterator<unknown, unknown> | AsyncIterator<unknown, unknown>

async function takeAll(pieces: Pieces, { sink, signal }: OutputOptions): Promise<void> {
  let count = 0
  let ended = false
  try {
    for (;;) {
      const step = pieces.next()
      // a list is taken without waiting
      // oxlint-disable-next-line no-await-in-loop -- one piece comes after the other
      const { value, done } = step instanceof Promise ? await step : (step as IteratorResult<unknown, unknown>)
      ended = done === true
      signal.throwIfAborted()
      if (ended) return
      takePiece(value, sink)
      count++
      if (count > MAX_PIECES) throw tooMany()
      // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
      if (count % PIECES_A_TURN === 0) await nextTurn()
    }
  } finally {
    // not waited for: a generator in the middle of a wait hears of it only after that
    if (!ended) void Promise.resolve(pieces.return?.()).catch(() => undefined)
  }
}

function takePiece(piece: unknown, sink: OutputSink): void {
  if (typeof piece === 'string') sink.request(piece)
  else if (piece instanceof URL) sink.request(piece.href)
  else if (isFollow(piece)) sink.request(piece[brand])
  else if (isPlainObject(piece)) sink.item(piece)
  else if (Array.isArray(piece)) for (const one of piece) takePiece(one, sink)
  else if (piece !== undefined && piece !== null) throw wrongPiece(piece)
}

const isPiece = (value: unknown): boolean =>
  typeof value === 'string' || value instanceof URL || isFollow(value) || isPlainObject(value)

function isFollow(value: unknown): value is FollowRequest {
  return typeof value === 'object' && value !== null && brand in value
}

function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A generator that was called. Not any iterable: `seen.add(url)` returns a set that nobody means to be crawled. */
function isIterator(value: unknown): value is Pieces {
  if (typeof value !== 'object' || value === null || !('next' in value) || typeof value.next !== 'function')
    return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}

function wrongPiece(piece: unknown): CrawlError {
  const problem = `a handler yielded ${typeof piece === 'object' ? 'an object of a class' : `the ${typeof piece} ${String(piece)}`}: expected a URL, follow(url, …), or a plain object as an item`
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}

function tooMany(): CrawlError {
  const problem = `a handler yielded more than ${MAX_PIECES} requests and items for one page: does it end?`
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
