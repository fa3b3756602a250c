/** Writes one answer of a test site onto its connection, with the fault it asks for. */

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { Clock } from '../core/clock.ts'
import { pageHtml } from './site-answer.ts'
import type { SiteAnswer, SiteFault } from './site-answer.ts'

export interface WriteOptions {
  readonly response: ServerResponse
  readonly answer: SiteAnswer
  readonly clock: Clock
  /** Aborts when the connection is gone or the site closes: every wait ends with it. */
  readonly signal: AbortSignal
}

type FaultOf<K extends SiteFault['kind']> = Extract<SiteFault, { readonly kind: K }>

const PACKERS = {
  gzip: gzipSync,
  deflate: deflateSync,
  'deflate-raw': deflateRawSync,
  br: brotliCompressSync,
} as const

/** Resolves when there is nothing more to send. */
export async function writeAnswer(options: WriteOptions): Promise<void> {
  const { answer, clock, signal, response } = options
  if (answer.delayMs !== undefined) await clock.sleep(answer.delayMs, signal)
  if (signal.aborted) return
  const fault = answer.fault
  if (fault === undefined) {
    writeWhole(response, answer)
    return
  }
  await writeFault(fault, options)
}

function writeWhole(response: ServerResponse, answer: SiteAnswer): void {
  const body = bodyOf(answer)
  writeHead(response, answer, answer.chunked === true ? undefined : body.byteLength)
  // a false Content-Length makes node refuse `end` with another length: the connection is ended by hand then
  if (answer.contentLength !== undefined && answer.contentLength !== body.byteLength) {
    response.write(body, () => response.socket?.end())
    return
  }
  response.end(body)
}

async function writeFault(fault: SiteFault, options: WriteOptions): Promise<void> {
  switch (fault.kind) {
    case 'cut':
      writeCut(fault, options)
      return
    case 'stall':
      writeStall(fault, options)
      return
    case 'drip':
      return writeDrip(fault, options)
    case 'endless':
      return writeEndless(fault, options)
    case 'hang':
    case 'reset':
    case 'close':
    case 'raw':
      writeNoAnswer(fault, options)
  }
}

function writeNoAnswer(fault: FaultOf<'hang' | 'reset' | 'close' | 'raw'>, { response }: WriteOptions): void {
  if (fault.kind === 'reset') response.socket?.resetAndDestroy()
  else if (fault.kind === 'close') response.socket?.end()
  else if (fault.kind === 'raw') response.socket?.end(fault.bytes)
}

function writeStall(fault: FaultOf<'stall'>, { response, answer }: WriteOptions): void {
  const body = bodyOf(answer)
  writeHead(response, answer, answer.chunked === true ? undefined : body.byteLength)
  response.flushHeaders()
  response.write(body.subarray(0, fault.afterBytes ?? 0))
}

function writeCut(fault: FaultOf<'cut'>, { response, answer }: WriteOptions): void {
  const body = bodyOf(answer)
  writeHead(response, answer, answer.chunked === true ? undefined : body.byteLength)
  const end = (): void => {
    if (fault.reset === true) response.socket?.resetAndDestroy()
    else response.socket?.end()
  }
  response.flushHeaders()
  response.write(body.subarray(0, fault.afterBytes), end)
}

async function writeDrip(fault: FaultOf<'drip'>, { response, answer, clock, signal }: WriteOptions): Promise<void> {
  const body = bodyOf(answer)
  writeHead(response, answer, answer.chunked === true ? undefined : body.byteLength)
  for (let at = 0; at < body.byteLength && !signal.aborted; at += fault.chunkBytes) {
    response.write(body.subarray(at, at + fault.chunkBytes))
    await clock.sleep(fault.everyMs, signal)
  }
  if (!signal.aborted) response.end()
}

async function writeEndless(fault: FaultOf<'endless'>, options: WriteOptions): Promise<void> {
  const { response, answer, clock, signal } = options
  const body = bodyOf(answer)
  writeHead(response, answer, answer.contentLength)
  while (!signal.aborted && !response.destroyed) {
    const flows = response.write(body)
    if (fault.everyMs !== undefined) await clock.sleep(fault.everyMs, signal)
    // an aborted wait means that the reader is gone
    else if (!flows) await once(response, 'drain', { signal }).catch(() => undefined)
  }
}

function writeHead(response: ServerResponse, answer: SiteAnswer, lengthBytes: number | undefined): void {
  response.strictContentLength = false
  response.statusCode = answer.status ?? 200
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    response.setHeader(name, typeof value === 'string' ? value : [...value])
  }
  if (answer.body === undefined && !response.hasHeader('content-type')) {
    response.setHeader('content-type', 'text/html; charset=utf-8')
  }
  if (answer.encoding !== undefined) {
    response.setHeader('content-encoding', answer.encoding === 'deflate-raw' ? 'deflate' : answer.encoding)
  }
  const length = answer.contentLength ?? lengthBytes
  if (length !== undefined) response.setHeader('content-length', length)
}

function bodyOf(answer: SiteAnswer): Buffer {
  const plain = Buffer.from(answer.body ?? pageHtml(answer.title ?? 'A page', answer.links))
  return answer.encoding === undefined ? plain : PACKERS[answer.encoding](plain)
}
