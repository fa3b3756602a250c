/** Logs in pino's shape: constant messages, facts in fields. */

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type LogFields = Readonly<Record<string, unknown>>

export interface Logger {
  error(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
}

const NUMBERS: Readonly<Record<LogLevel, number>> = { silent: Infinity, error: 50, warn: 40, info: 30, debug: 20 }

/** One JSON line a message. `write` gets the line without its end. */
export function createLogger({
  level,
  nowMs,
  write,
}: {
  readonly level: LogLevel
  readonly nowMs: () => number
  readonly write: (line: string) => void
}): Logger {
  const logAt = (at: LogLevel) => (fields: LogFields, message: string) => {
    if (NUMBERS[at] < NUMBERS[level]) return
    write(JSON.stringify({ level: NUMBERS[at], time: nowMs(), ...fields, msg: message }))
  }
  return { error: logAt('error'), warn: logAt('warn'), info: logAt('info'), debug: logAt('debug') }
}

const nothing = (): void => undefined
export const silentLogger: Logger = { error: nothing, warn: nothing, info: nothing, debug: nothing }
