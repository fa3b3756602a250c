/** One exchange with a server: one hop, bounded in time and size. Redirects, retries, robots and cache are others' business. */

import type { FailureClass } from '../core/outcome.ts'

export interface FetchRequest {
  /** WHATWG-serialised http or https URL. */
  readonly url: string
  /** Default GET. */
  readonly method?: string
  /** Lower-case names. Sent as given, after the fetcher's own defaults. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** Whole exchange; overrides the fetcher's own. */
  readonly timeoutMs?: number
  /** After decoding. A longer body is a failure `too-large`. */
  readonly maxBodyBytes?: number
  /** Keep only this many bytes, without a failure (robots.txt, probes). */
  readonly truncateAtBytes?: number
  /** May private and loopback addresses be connected to? True for a seed's own host and with --allow-private. */
  readonly allowPrivate?: boolean
  /** Names the cookie jar, the proxy and the browser identity to use; the task's name. */
  readonly session?: string
  readonly signal?: AbortSignal
  /**
   * Asked right before the request is written to its connection, and again when it is repeated: a process that was stopped
   * meanwhile goes on in the midst of connecting, before its timers tell it anything. Where it answers false nothing is
   * sent, and whoever gave it aborts `signal`.
   */
  readonly isStillHeld?: () => boolean
  /** Called when the request is about to be written to its connection; again when it is repeated. */
  readonly onSent?: () => void
  /** Called with the length of each piece of a body that has come, before decompression. */
  readonly onBody?: (bytes: number) => void
  /** Show the page to a browser, and answer what its scripts made of it. Default: no. */
  readonly render?: RenderRequest
}

/** `auto`: only a page that shows by its markup that it needs scripts; see docs/guides/render.md. */
export type RenderMode = 'off' | 'on' | 'auto'

/** When a page counts as ready: an event of its document, no request for half a second, or an element that is there. */
export type RenderWait = 'domcontentloaded' | 'load' | 'networkidle' | { readonly selector: string }

/** What a page asks for beside itself. Frames, sockets, pings and downloads are never loaded. */
export type ResourceKind = 'image' | 'font' | 'media' | 'stylesheet' | 'script' | 'data'

export interface RenderSettings {
  readonly mode: RenderMode
  readonly wait: RenderWait
  /** From the start of loading to being ready; milliseconds. Waiting for a free browser page does not count. */
  readonly timeoutMs: number
  /** Requests of these kinds are not made. */
  readonly block: readonly ResourceKind[]
  /** Keep a picture or a PDF of the page, as a file in the data folder named by its content. */
  readonly save: readonly RenderedFileKind[]
}

export type RenderedFileKind = 'screenshot' | 'pdf'

export interface RenderRequest extends RenderSettings {
  /** May the page's scripts reach this URL if its address is private? For the page itself see `allowPrivate`. */
  readonly mayBePrivate: (url: string) => boolean
  /** Keep the page open for a handler, at most this long: `FetchResponse.live`. Default: it is closed. */
  readonly holdMs?: number
}

/** The browser's page, still open. */
export interface LivePage {
  /** Playwright's `Page`: `browserPage` of `spoor/browser` has its type. */
  readonly page: object
  /** The data folder, where files made of the page go. */
  readonly dir: string
  /** Idempotent. Never rejects. */
  close(): Promise<void>
}

/** Lower-case names in wire order; a name may be there several times. Values are latin1 as received. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export interface FetchResponse {
  readonly kind: 'response'
  readonly url: string
  readonly status: number
  readonly headers: HeaderList
  /** Decoded of its content codings; empty where a body is not allowed. */
  readonly body: Uint8Array
  /** Bytes of body as received, before decoding. */
  readonly wireBytes: number
  /** `truncateAtBytes` cut it. */
  readonly truncated: boolean
  readonly timings: FetchTimings
  readonly remoteAddress?: string
  /** The body is a kept one: nothing was asked, or a 304 confirmed it. */
  readonly fromCache?: boolean
  /** When the body was downloaded, if it is kept: milliseconds since the epoch. Absent: just now. */
  readonly fetchedAtMs?: number
  /** Only when `render.holdMs` asked for it and a browser rendered the page now: the caller closes it. */
  readonly live?: LivePage
}

export interface FetchTimings {
  /** To the first byte of the answer. */
  readonly headMs: number
  readonly totalMs: number
}

export interface FetchFailure {
  readonly kind: 'failure'
  readonly failure: FailureClass
  /** For people; without credentials. */
  readonly error: string
  /** The address guard refused the connection: the engine records a skip `private-address`, not a failure. */
  readonly guarded?: boolean
  /** Nothing of an answer came and a reused connection was lost: may be repeated at once without charging an attempt. */
  readonly unsent?: boolean
  /** When the head came before it failed. */
  readonly status?: number
  readonly headers?: HeaderList
  readonly wireBytes: number
}

export type FetchResult = FetchResponse | FetchFailure

/** One step of an exchange that has been done, for those who look at a single request. Durations are milliseconds. */
export type WireStep =
  | { readonly kind: 'dns'; readonly host: string; readonly addresses: readonly string[]; readonly ms: number }
  /** `proxy`: its name without credentials, when it is what was connected to. */
  | {
      readonly kind: 'connect'
      readonly address: string
      readonly port: number
      readonly proxy?: string
      readonly ms: number
    }
  /** A proxy has opened a way to the host. */
  | {
      readonly kind: 'tunnel'
      readonly proxy: string
      readonly host: string
      readonly port: number
      readonly ms: number
    }
  | ({ readonly kind: 'tls'; readonly host: string; readonly ms: number } & TlsFacts)
  /** The request is written. The headers are those of the wire, in their order. */
  | { readonly kind: 'request'; readonly method: string; readonly target: string; readonly headers: HeaderList }

export interface TlsFacts {
  /** `TLSv1.3`. */
  readonly protocol: string
  readonly cipher: string
  /** What HTTP/2 is chosen by; absent when the server took no part in it. */
  readonly alpn?: string
  readonly resumed: boolean
  /** False: it was taken because any is (`--insecure`). */
  readonly verified: boolean
  /** Absent for a resumed session. `validTo` as the certificate has it. */
  readonly certificate?: { readonly subject: string; readonly issuer: string; readonly validTo: string }
}

export interface Fetcher {
  /** Never rejects for what a server does; rejects only when the signal aborts (the signal's reason). */
  fetch(request: FetchRequest): Promise<FetchResult>
  close(): Promise<void>
}
