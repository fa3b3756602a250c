/** `--batch`: JSON Lines of arguments in, JSON Lines of answers out, in the same order, with back-pressure. */

import type { CliHost } from './host.ts'
import type { Output } from './output.ts'

/** A longer line is answered with an error and passed over. */
const MAX_LINE_BYTES = 256 * 1024 * 1024
const NEWLINE = 0x0a

/** Lines of bytes without their ends; undefined stands for one that was too long. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array | string>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<Uint8Array | undefined> {
  let parts: Uint8Array[] = []
  let length = 0
  const add = (part: Uint8Array): void => {
    length += part.length
    if (length <= maxBytes) parts.push(part)
    else parts = []
  }
  const take = (): Uint8Array | undefined => {
    const line = length > maxBytes ? undefined : Buffer.concat(parts)
    parts = []
    length = 0
    return line
  }
  for await (const chunk of chunks) {
    let rest: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      add(rest.subarray(0, end))
      yield take()
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) add(rest)
  }
  if (length > 0) yield take()
}

export type BatchAnswer = (input: Readonly<Record<string, unknown>>) => unknown

export interface BatchOptions {
  readonly host: Pick<CliHost, 'stdin'>
  readonly output: Pick<Output, 'jsonLine'>
  /** Answers in work at the same time. Default 1. */
  readonly parallel?: number
}

/** Every line that is not blank gets one answer; what goes wrong with one is its `{"error"}` and nobody else's. */
export async function runBatch({ host, output, parallel = 1 }: BatchOptions, answer: BatchAnswer): Promise<void> {
  const waiting: Promise<unknown>[] = []
  const writeFirst = async (): Promise<void> => {
    await output.jsonLine(await waiting.shift())
  }
  for await (const line of linesOf(host.stdin)) {
    const text = line === undefined ? undefined : textOf(line)
    if (text === '') continue
    waiting.push(answerLine(text, answer))
    if (waiting.length >= parallel) await writeFirst()
  }
  while (waiting.length > 0) await writeFirst()
}

const textOf = (line: Uint8Array): string => new TextDecoder().decode(line).trim()

async function answerLine(text: string | undefined, answer: BatchAnswer): Promise<unknown> {
  if (text === undefined) return { error: `expected a line of at most ${MAX_LINE_BYTES} bytes` }
  try {
    const input: unknown = JSON.parse(text)
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return { error: 'expected a JSON object on the line' }
    return await answer(input as Readonly<Record<string, unknown>>)
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** A text of the input. Throws when it is missing or of another kind. */
export function textField(input: Readonly<Record<string, unknown>>, name: string): string {
  const found = optionalField(input, name)
  if (found === undefined) throw new TypeError(`expected "${name}", a text`)
  return found
}

/** Undefined when it is missing or null. */
export function optionalField(input: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const found = input[name]
  if (found === undefined || found === null) return undefined
  if (typeof found !== 'string') throw new TypeError(`expected "${name}" to be a text, found ${typeof found}`)
  return found
}

/** Bytes of `NAMEBase64`, or the text of `NAME`. Throws when both are missing. */
export function bytesOrText(
  input: Readonly<Record<string, unknown>>,
  names: { readonly text: string; readonly base64: string },
): Uint8Array | string {
  const packed = optionalField(input, names.base64)
  if (packed === undefined) {
    const found = optionalField(input, names.text)
    if (found === undefined) throw new TypeError(`expected "${names.text}" or "${names.base64}"`)
    return found
  }
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(packed.trim())) throw new TypeError(`expected "${names.base64}" to be base64`)
  return Buffer.from(packed, 'base64')
}
