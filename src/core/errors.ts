/** The one error class of this package and the table of its codes. */

const ERROR_CODES = {
  CONFIG_INVALID: { message: '{problem}', retryable: false },
  SEEDS_UNREADABLE: { message: '{source} cannot be read: {problem}', retryable: false },
  STORE_UNAVAILABLE: { message: 'The store at {location} cannot be opened: {problem}', retryable: false },
  STORE_FORMAT_MISMATCH: {
    message: 'The store at {location} has format {found}; this version reads {expected}',
    retryable: false,
  },
  STORE_CORRUPT: { message: 'The store at {location} is damaged: {problem}', retryable: false },
  STORE_FULL: { message: 'No room is left for the store at {location}: {problem}', retryable: true },
  STORE_BUSY: {
    message: 'The store at {location} stayed locked by another process for {waitedMs} ms',
    retryable: true,
  },
  STORE_CLOSED: { message: 'The store at {location} is closed', retryable: false },
  STORE_RULES_CHANGED: {
    message: 'The crawl in {location} was begun with other {what}: expected {expected}, found {found}',
    retryable: false,
  },
  CACHE_CODEC_MISSING: {
    message: '{url} is in the cache packed with {codec}, which this Node cannot unpack: use 22.15 or later',
    retryable: false,
  },
  EXPORT_FAILED: { message: '{file} cannot be written: {problem}', retryable: false },
  EXTRACT_FAILED: { message: 'Data cannot be taken out of {url}: {problem}', retryable: false },
  ITEM_INVALID: { message: 'The data of {url} is not what was expected: {problem}', retryable: false },
  HANDLER_TIMEOUT: { message: 'The handler of {url} did not end within {timeoutMs} ms', retryable: true },
  PAGE_DECIDED: { message: 'The handler decided: {decision}', retryable: false },
  WORKERS_DIED: { message: 'The crawl was given up: {problem}', retryable: true },
  CRAWL_ABORTED: { message: 'The crawl was stopped', retryable: false },
  BROWSER_UNAVAILABLE: { message: 'No browser can be used: {problem}', retryable: false },
  PEER_MISSING: { message: '{feature} needs the package {name}: run `npm install {name}`', retryable: false },
} as const satisfies Record<string, { readonly message: string; readonly retryable: boolean }>

/** Stable: a code is never renamed and never reused; see docs/errors.md. */
export type ErrorCode = keyof typeof ERROR_CODES

/** Every code, for documentation and its check. */
export const errorCodes = Object.keys(ERROR_CODES) as readonly ErrorCode[]

export interface CrawlErrorOptions extends ErrorOptions {
  /** Values for the placeholders of the message, and for logs. Must be JSON-safe. */
  readonly context?: Readonly<Record<string, string | number | boolean>>
}

const brand: unique symbol = Symbol.for('spoor.CrawlError') as never

/** The only error class that this package throws. Branch on `code`, never on `message`. */
export class CrawlError extends Error {
  readonly code: ErrorCode
  readonly retryable: boolean
  readonly context: Readonly<Record<string, string | number | boolean>>
  readonly [brand] = true

  constructor(code: ErrorCode, options: CrawlErrorOptions = {}) {
    const context = options.context ?? {}
    super(fill(ERROR_CODES[code].message, context), options)
    this.code = code
    this.retryable = ERROR_CODES[code].retryable
    this.context = context
  }

  static {
    Object.defineProperty(this.prototype, 'name', { value: 'CrawlError', writable: true, configurable: true })
  }
}

/** Works across realms and across two copies of the package, unlike `instanceof`. */
export function isCrawlError<C extends ErrorCode = ErrorCode>(
  value: unknown,
  code?: C,
): value is CrawlError & { readonly code: C } {
  return (
    typeof value === 'object' &&
    value !== null &&
    brand in value &&
    (code === undefined || (value as CrawlError).code === code)
  )
}

function fill(template: string, context: Readonly<Record<string, string | number | boolean>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, key: string) => String(context[key] ?? whole))
}
