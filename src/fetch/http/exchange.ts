/** One request on one connection: collects the answer within its bounds and deadlines, and says how it ended. */

import type { Clock } from '../../core/clock.ts'
import type { LoopWatch } from '../../core/loop-watch.ts'
import type { FetchFailure, FetchResponse, FetchResult, HeaderList } from '../contract.ts'
import { headerOf, headerTokens } from '../headers.ts'
import { createBodyCollector, type BodyCollector } from './body-collector.ts'
import { decodeBody, parseCodings } from './decode.ts'
import type { Coding, Decoded } from './decoded.ts'
import { classifyFault, type Fault, type Phase } from './faults.ts'
import type { Connection } from './origins.ts'
import { unauthorised } from './proxy-tunnel.ts'
import type { Proxy } from './proxy-url.ts'

export interface ExchangePlan {
  readonly url: string
  readonly method: string
  readonly timeoutMs: number
  /** Most time without a byte once connected; undefined leaves it to the whole time-out. */
  readonly idleTimeoutMs: number | undefined
  readonly maxBodyBytes: number
  /** Keep this many bytes without a failure. */
  readonly truncateAtBytes: number | undefined
  readonly isStillHeld: (() => boolean) | undefined
  readonly onSent: (() => void) | undefined
  readonly onBody: ((bytes: number) => void) | undefined
  /** A proxy that is spoken to in absolute form: a 407 is then its own. */
  readonly answeringProxy: Proxy | undefined
  readonly clock: Clock
  /** Time in which the event loop stands still is not the network's. */
  readonly loop: LoopWatch
}

/** Coded bodies may be a little longer than what they hold. */
const CODING_OVERHEAD_BYTES = 64 * 1024
/** Nobody reads the page of a redirect. */
const REDIRECT_BODY_BYTES = 64 * 1024
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

export interface ExchangeEnds {
  /** The connection is no longer needed. Called once, before `settle`: decoding holds no connection. */
  release(connection: Connection, reusable: boolean): void
  /** Called at most once, and never after `cancel`. */
  settle(result: FetchResult): void
}

/** undici's handler of one dispatch. A class and no closures: one is made for every request, and this is the hot path. */
export class Exchange {
  readonly #plan: ExchangePlan
  readonly #connection: Connection
  readonly #ends: ExchangeEnds
  readonly #startedMs: number
  /** Of the whole exchange; moves on by the time in which the loop stood still, */
  #deadlineMs: number
  /** of which this much was seen. */
  #stillMs: number
  /** When it was dispatched the connection had served others: its loss before any byte is nobody's fault. */
  readonly #reused: boolean
  #phase: Phase = 'connect'
  #settled = false
  #abort: ((error?: Error) => void) | undefined
  #cancelTimer: () => void
  #status = 0
  #headers: HeaderList = []
  #codings: readonly Coding[] = []
  readonly #body: BodyCollector = createBodyCollector()
  #wireBytes = 0
  #headMs = 0
  #lastByteMs: number
  #limitBytes: number
  #redirect = false
  #bodyless = false

  constructor(plan: ExchangePlan, connection: Connection, ends: ExchangeEnds) {
    this.#plan = plan
    this.#connection = connection
    this.#ends = ends
    this.#startedMs = plan.clock.monotonicMs()
    this.#lastByteMs = this.#startedMs
    plan.loop.begin()
    this.#deadlineMs = this.#startedMs + plan.timeoutMs
    this.#stillMs = plan.loop.stillMs()
    this.#reused = connection.served > 0
    this.#limitBytes = plan.truncateAtBytes ?? plan.maxBodyBytes
    this.#cancelTimer = plan.clock.timer(plan.timeoutMs, () => {
      this.#onTimer()
    })
  }

  /** Ends without a result: the caller has rejected already. */
  cancel(): void {
    if (!this.#settled) this.#close(false)
  }

  onConnect(abort: (error?: Error) => void): void {
    // asked first: its answer may abort the signal, which settles this
    if (this.#plan.isStillHeld?.() === false || this.#settled) {
      abort()
      return
    }
    this.#abort = abort
    this.#phase = 'waiting'
    this.#connection.filter?.expectHead()
    this.#plan.onSent?.()
    const { idleTimeoutMs, clock } = this.#plan
    if (idleTimeoutMs === undefined) return
    this.#lastByteMs = clock.monotonicMs()
    this.#rearm(Math.min(idleTimeoutMs, this.#deadlineMs - this.#lastByteMs))
  }

  onHeaders(status: number, raw: readonly Buffer[]): boolean {
    if (status < 200 || this.#settled) return true
    const now = this.#plan.clock.monotonicMs()
    this.#phase = 'body'
    this.#status = status
    this.#headers = headerList(raw)
    this.#headMs = now - this.#startedMs
    this.#lastByteMs = now
    const { answeringProxy, method } = this.#plan
    if (status === 407 && answeringProxy !== undefined) {
      this.#fail(
        { failure: 'proxy', error: `the proxy ${answeringProxy.label} ${unauthorised(answeringProxy)}` },
        false,
      )
      return true
    }
    this.#bodyless = NO_BODY.has(status) || method === 'HEAD'
    if (!this.#bodyless) this.#expectBody()
    return true
  }

  #expectBody(): void {
    const headers = this.#headers
    this.#redirect = REDIRECTS.has(this.#status) && headerOf(headers, 'location') !== undefined
    if (this.#redirect) this.#limitBytes = Math.min(this.#limitBytes, REDIRECT_BODY_BYTES)
    if (headerOf(headers, 'content-encoding') !== undefined)
      this.#codings = parseCodings(headerTokens(headers, 'content-encoding'))
    const length = Number(headerOf(headers, 'content-length') ?? 0)
    if (length <= this.#wireLimit()) this.#body.expect(length)
    if (length > this.#wireLimit() && !this.#cuts()) this.#tooLarge(`a Content-Length of ${length}`)
  }

  onData(chunk: Buffer): boolean {
    if (this.#settled || this.#bodyless) return true
    if (this.#plan.idleTimeoutMs !== undefined) this.#lastByteMs = this.#plan.clock.monotonicMs()
    this.#body.add(chunk)
    this.#plan.onBody?.(chunk.length)
    this.#wireBytes += chunk.length
    if (this.#wireBytes <= this.#wireLimit()) return true
    if (this.#cuts()) this.#finish(true)
    else this.#tooLarge('more')
    return true
  }

  onComplete(): void {
    if (this.#settled) return
    this.#connection.served++
    // A body that only the end of the connection ends is whole when it was closed, not when it was reset.
    if (this.#connection.wasReset && !this.#bodyless)
      this.onError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    else this.#finish(false)
  }

  onError(error: unknown): void {
    if (this.#settled) return
    const fault = this.#headCut(classifyFault(error, this.#phase))
    if (this.#phase === 'body' && this.#redirect) {
      this.#finish(true)
      return
    }
    const lost = this.#phase === 'waiting' && this.#reused && fault.failure === 'reset'
    this.#fail(fault, lost)
  }

  /** Bytes came, but no whole head. */
  #headCut(fault: Fault): Fault {
    const cut = this.#phase === 'waiting' && fault.failure === 'reset' && this.#connection.filter?.sawBytes() === true
    return cut ? { failure: 'incomplete', error: 'the connection was lost within the head of the answer' } : fault
  }

  #cuts(): boolean {
    return this.#redirect || this.#plan.truncateAtBytes !== undefined
  }

  #wireLimit(): number {
    return this.#codings.length === 0 ? this.#limitBytes : this.#limitBytes + CODING_OVERHEAD_BYTES
  }

  #tooLarge(found: string): void {
    this.#fail(
      { failure: 'too-large', error: `expected a body of at most ${this.#limitBytes} bytes, found ${found}` },
      false,
    )
  }

  #onTimer(): void {
    const { clock, loop, timeoutMs, idleTimeoutMs } = this.#plan
    const now = clock.monotonicMs()
    const lostMs = loop.stillMs() - this.#stillMs
    this.#stillMs += lostMs
    this.#deadlineMs += lostMs
    this.#lastByteMs = Math.min(now, this.#lastByteMs + lostMs)
    const left = this.#deadlineMs - now
    if (left <= 0) {
      this.#timeOut(`the whole answer within the time-out of ${timeoutMs} ms`)
      return
    }
    const idleLeft =
      idleTimeoutMs === undefined || this.#phase === 'connect' ? left : this.#lastByteMs + idleTimeoutMs - now
    if (idleLeft <= 0) this.#timeOut(`a byte within the idle time-out of ${idleTimeoutMs ?? 0} ms`)
    else this.#rearm(Math.min(left, idleLeft))
  }

  #rearm(ms: number): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#plan.clock.timer(Math.max(1, Math.ceil(ms)), () => {
      this.#onTimer()
    })
  }

  #timeOut(expected: string): void {
    if (this.#phase === 'body' && this.#redirect) {
      this.#finish(true)
      return
    }
    const found = { connect: 'no connection', waiting: 'no answer', body: `${this.#wireBytes} bytes of body` }[
      this.#phase
    ]
    this.#fail({ failure: 'timeout', error: `expected ${expected}, found ${found}` }, false)
  }

  #fail(fault: Fault, unsent: boolean): void {
    const head = this.#status === 0 ? {} : { status: this.#status, headers: this.#headers }
    const failure: FetchFailure = {
      kind: 'failure',
      ...fault,
      ...(unsent ? { unsent } : {}),
      ...head,
      wireBytes: this.#wireBytes,
    }
    this.#close(false)
    this.#ends.settle(failure)
  }

  #close(reusable: boolean): void {
    this.#settled = true
    this.#cancelTimer()
    this.#plan.loop.end()
    this.#body.drop()
    if (!reusable) this.#abort?.()
    this.#ends.release(this.#connection, reusable)
  }

  /** `early`: what was read is enough, and the rest is not waited for. */
  #finish(early: boolean): void {
    const wire = this.#body.take()
    this.#close(!early)
    if (!early && this.#codings.length === 0 && wire.length <= this.#limitBytes) {
      this.#ends.settle(this.#response(wire, false))
      return
    }
    const decoded = decodeBody({
      wire,
      codings: this.#codings,
      limitBytes: this.#limitBytes,
      cut: this.#cuts(),
      wireCut: early,
    })
    if (!(decoded instanceof Promise)) {
      this.#ends.settle(this.#decoded(decoded, early))
      return
    }
    void this.#settleWith(decoded, early)
  }

  async #settleWith(decoding: Promise<Decoded>, early: boolean): Promise<void> {
    let result: FetchResult
    try {
      result = this.#decoded(await decoding, early)
    } catch (error) {
      result = { kind: 'failure', ...classifyFault(error, 'body'), wireBytes: this.#wireBytes }
    }
    this.#ends.settle(result)
  }

  #decoded(decoded: Decoded, early: boolean): FetchResult {
    if (decoded.kind === 'body') return this.#response(decoded.body, early || decoded.truncated)
    if (this.#redirect) return this.#response(Buffer.alloc(0), true)
    const head = { status: this.#status, headers: this.#headers, wireBytes: this.#wireBytes }
    if (decoded.kind === 'too-large') {
      const error = `expected a body of at most ${this.#limitBytes} bytes after decompression, found more`
      return { kind: 'failure', failure: 'too-large', error, ...head }
    }
    if (decoded.kind === 'incomplete') {
      return { kind: 'failure', failure: 'incomplete', error: 'the compressed body ends early', ...head }
    }
    return { kind: 'failure', failure: 'decode', error: decoded.problem, ...head }
  }

  #response(body: Buffer, truncated: boolean): FetchResponse {
    const { remoteAddress } = this.#connection
    const response: { -readonly [K in keyof FetchResponse]: FetchResponse[K] } = {
      kind: 'response',
      url: this.#plan.url,
      status: this.#status,
      headers: this.#headers,
      body,
      wireBytes: this.#wireBytes,
      truncated,
      timings: { headMs: this.#headMs, totalMs: this.#plan.clock.monotonicMs() - this.#startedMs },
    }
    if (remoteAddress !== undefined) response.remoteAddress = remoteAddress
    return response
  }
}

function headerList(raw: readonly Buffer[]): HeaderList {
  const headers: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]
    const value = raw[at + 1]
    if (name !== undefined && value !== undefined)
      headers.push([name.toString('latin1').toLowerCase(), value.toString('latin1').trim()])
  }
  return headers
}
