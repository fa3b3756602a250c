/** The public face of the package. */

export { Crawler, type CrawlerEvents, type CrawlerOptions } from './crawler/crawler.ts'
export type { CrawlSummary, ProgressSnapshot } from './crawler/contract.ts'
export type {
  EnqueueLinksOptions,
  ExtractOptions,
  FailedContext,
  FinishReason,
  HandlerContext,
  Page,
  PageRequest,
  PageResponse,
  RequestDraft,
  RequestHandler,
} from './engine/contract.ts'
export type {
  Convert,
  Extracted,
  ExtractSchema,
  FieldSchema,
  FieldType,
  StandardSchema,
} from './extract/schema/contract.ts'
export type { Seeds, SeedEntry } from './engine/feed.ts'
export type { CacheStore } from './cache/contract.ts'
export type { Store } from './stores/contract.ts'
export type { JsonObject, JsonValue } from './core/json.ts'
export type { CacheMode, CacheOverride } from './core/request.ts'
export { CrawlError, type ErrorCode, isCrawlError } from './core/errors.ts'
export { createLogger, type Logger, type LogLevel } from './core/logger.ts'
export type { FailureClass, SkipReason } from './core/outcome.ts'
