/** The live log: the last lines of what happens, in bounded memory, however fast it happens. */

import type { EngineEvent } from '../crawler/contract.ts'
import type { LogLine } from './wire.ts'

const MAX_LINES = 300
/** Of a line that somebody else has written. */
const MAX_TEXT = 2000

export interface Feed {
  event(event: EngineEvent): void
  /** A sentence for people. */
  warning(message: string): void
  /** One line of JSON in pino's shape. */
  log(line: string): void
  lines(): readonly LogLine[]
  /** Those that came after the line of this number, and the number of the last: 0 before the first. */
  since(number: number): { readonly lines: readonly LogLine[]; readonly last: number }
}

export function createFeed(nowMs: () => number): Feed {
  const lines: LogLine[] = []
  let count = 0
  const push = (kind: LogLine['kind'], text: string, url: string | null): void => {
    count++
    lines.push({ atMs: nowMs(), kind, text: cut(text), url: url === null ? null : cut(url) })
    // not one by one: moving them all for each would be paid by every page
    if (lines.length > 2 * MAX_LINES) lines.splice(0, lines.length - MAX_LINES)
  }
  return {
    event: (event) => {
      push(event.type, textOf(event), event.url)
    },
    warning: (message) => {
      push('warning', message, null)
    },
    log: (line) => {
      const { text, url } = readLog(line)
      push('log', text, url)
    },
    lines: () => lines.slice(-MAX_LINES),
    since: (number) => {
      const fresh = Math.min(count - number, MAX_LINES)
      return { lines: fresh <= 0 ? [] : lines.slice(-fresh), last: count }
    },
  }
}

const cut = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`)

function textOf(event: EngineEvent): string {
  switch (event.type) {
    case 'page':
      return `${event.status}, level ${event.depth}${event.fromCache ? ', from cache' : ''}`
    case 'skipped':
      return event.why === undefined ? event.reason : `${event.reason}: ${event.why}`
    case 'redirected':
      return `to ${event.to}`
    case 'retry':
      return `${event.failure}: ${event.error}; again in ${Math.ceil(event.inMs / 1000)} s`
    case 'failed':
      return `${event.failure}: ${event.error}`
    case 'lost':
      return 'its lease was lost: another worker has it'
  }
}

function readLog(line: string): { readonly text: string; readonly url: string | null } {
  const { level: _level, time: _time, msg, url, ...facts } = JSON.parse(line) as Record<string, unknown>
  const told = Object.keys(facts).length === 0 ? '' : ` ${JSON.stringify(facts)}`
  return { text: `${String(msg)}${told}`, url: typeof url === 'string' ? url : null }
}
