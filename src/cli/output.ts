/** The only place that prints: results to stdout with back-pressure, everything else to stderr. */

import type { CliHost, Terminal } from './host.ts'
import { clean, cutMiddle, widthOf } from './text.ts'

export interface OutputOptions {
  readonly json: boolean
  readonly quiet: boolean
}

export interface Output {
  /** Results are wanted as JSON. */
  readonly json: boolean
  readonly quiet: boolean
  /** stderr is a terminal that a line may be rewritten on. */
  readonly live: boolean
  /** One line (or several) of result. */
  result(text: string): Promise<void>
  /** One JSON document on one line. */
  jsonLine(value: unknown): Promise<void>
  /** Results as they are. Rejects when whoever read them is gone. */
  write(chunk: Uint8Array | string): Promise<void>
  /** Progress, hints and summaries for people; nothing when quiet. */
  hint(text: string): void
  /** What must be told, quiet or not. */
  problem(text: string): void
  /** A line of log: JSON as it is, or a sentence where someone looks at it. */
  log(line: string): void
  /** Shows a line that the next one replaces; `tail` is cut to the room that is left. Only when live. */
  status(line: string, tail?: string): void
  /** The same of several lines, each cut to the terminal; the first alone where that is too low. */
  screen(lines: readonly string[]): void
  /** Takes the live lines away. */
  clearStatus(): void
  /** Whoever read stdout has gone: nothing more can be said there. */
  isGone(): boolean
  onGone(fn: () => void): void
}

const CLEAR_LINE = '\r\u001b[2K'
const UP = '\u001b[1A'
/** A lower terminal gets one line. */
const LEAST_ROWS = 12
const MAX_LINES = 8

/** Takes lines away that are as long as these, from below; where the terminal has become narrower, they take more rows. */
function eraser(lines: readonly string[], width: number): string {
  const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0)
  return CLEAR_LINE + (UP + CLEAR_LINE).repeat(rows - 1)
}

const cutEnd = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`

/** Messages keep their own line ends; what came from elsewhere cannot steer the terminal. */
const safeLines = (text: string): string => text.split('\n').map(clean).join('\n')

/** Colour and rewriting only where someone looks at it and has not asked for plain text. */
function isLive(terminal: Terminal, env: CliHost['env']): boolean {
  const plain = (env['NO_COLOR'] ?? '') !== '' || (env['CI'] ?? '') !== '' || env['TERM'] === 'dumb'
  return terminal.isTTY === true && !plain
}

export function createOutput(host: CliHost, { json, quiet }: OutputOptions): Output {
  const results = createSink(host.stdout)
  const live = !quiet && isLive(host.stderr, host.env)
  let shown: readonly string[] = []
  const clearStatus = (): void => {
    if (shown.length > 0) host.stderr.write(eraser(shown, widthOf(host.stderr)))
    shown = []
  }
  const show = (lines: readonly string[]): void => {
    const erase = shown.length > 0 ? eraser(shown, widthOf(host.stderr)) : CLEAR_LINE
    host.stderr.write(erase + lines.join('\n'))
    shown = lines
  }
  const say = (text: string): void => {
    clearStatus()
    host.stderr.write(`${text}\n`)
  }
  // a terminal that has gone away must not end the crawl
  host.stderr.on('error', () => undefined)
  return {
    json,
    quiet,
    live,
    result: (text) => results.write(`${safeLines(text)}\n`),
    jsonLine: (value) => results.write(`${JSON.stringify(value)}\n`),
    write: results.write,
    hint: (text) => {
      if (!quiet) say(safeLines(text))
    },
    problem: (text) => {
      say(safeLines(text))
    },
    log: (line) => {
      say(live ? readableLog(line) : line)
    },
    status: (line, tail = '') => {
      if (!live) return
      const width = widthOf(host.stderr) - 1
      const head = clean(line).slice(0, width)
      const room = width - head.length - 2
      show([head + (tail === '' || room < 8 ? '' : `  ${cutMiddle(clean(tail), room)}`)])
    },
    screen: (lines) => {
      if (!live) return
      const width = widthOf(host.stderr) - 1
      const isLow = (host.stderr.rows ?? LEAST_ROWS) < LEAST_ROWS
      show(lines.slice(0, isLow ? 1 : MAX_LINES).map((line) => cutEnd(clean(line), width)))
    },
    clearStatus,
    isGone: results.isGone,
    onGone: results.onGone,
  }
}

const LEVELS: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warning', 50: 'error' }

/** `warning: the sentence (file: x, url: y)`. */
function readableLog(line: string): string {
  const { level, time: _time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>
  const told = Object.entries(facts).map(
    ([name, fact]) => `${name}: ${typeof fact === 'string' ? fact : JSON.stringify(fact)}`,
  )
  return safeLines(
    `${LEVELS[Number(level)] ?? 'log'}: ${String(msg)}${told.length === 0 ? '' : ` (${told.join(', ')})`}`,
  )
}

interface Sink {
  readonly write: (chunk: Uint8Array | string) => Promise<void>
  readonly isGone: () => boolean
  readonly onGone: (fn: () => void) => void
}

/** A stream with back-pressure; a reader that has gone (EPIPE) is a fact, not a fault. */
function createSink(stream: Terminal): Sink {
  let gone: Error | undefined
  const listeners: (() => void)[] = []
  const wakes = new Set<() => void>()
  stream.on('error', (error: Error) => {
    if (gone !== undefined) return
    gone = error
    for (const listener of listeners) listener()
    for (const wake of wakes) wake()
  })
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        wakes.delete(wake)
        stream.off('drain', wake)
        resolve()
      }
      wakes.add(wake)
      stream.once('drain', wake)
    })
  return {
    write: async (chunk) => {
      if (gone === undefined && !stream.write(chunk)) await drained()
      if (gone !== undefined) throw gone
    },
    isGone: () => gone !== undefined,
    onGone: (fn) => {
      listeners.push(fn)
    },
  }
}
