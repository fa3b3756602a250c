/** The public face of the package. */

export { Crawler, type CrawlerEvents, type CrawlerOptions } from './crawler/crawler.ts'
export { defineTask, type Task } from './crawler/define-task.ts'
export { createRouter, type Router, type Routing } from './crawler/router.ts'
export type { Rule, RuleSettings } from './crawler/rule.ts'
export type { CrawlSummary, ProgressSnapshot, TaskSummary } from './crawler/contract.ts'
export type {
  AnswerHookContext,
  EnqueueLinksOptions,
  ExtractOptions,
  FailedContext,
  FetchHookContext,
  FinishReason,
  HandlerContext,
  HookAnswer,
  HookContext,
  LabelFields,
  LabelledRequest,
  Middleware,
  Page,
  PageDecisions,
  PageRequest,
  PageResponse,
  RequestDraft,
  RequestHandler,
  UserDataOf,
} from './engine/contract.ts'
export type {
  Convert,
  Extracted,
  ExtractSchema,
  FieldSchema,
  FieldType,
  StandardSchema,
} from './extract/schema/contract.ts'
export { follow, type FollowRequest } from './engine/handler-output.ts'
export type { UrlPattern, UrlTest } from './rules/contract.ts'
export type { Exporter, ExportFormat, OpenExporterOptions, StoredItem } from './items/contract.ts'
export type { Seeds, SeedEntry } from './engine/feed.ts'
export type { CacheStore } from './cache/contract.ts'
export type { Store } from './stores/contract.ts'
export type { JsonObject, JsonValue } from './core/json.ts'
export type { CacheMode, CacheOverride } from './core/request.ts'
export { CrawlError, type ErrorCode, isCrawlError } from './core/errors.ts'
export { createLogger, type Logger, type LogLevel } from './core/logger.ts'
export type { FailureClass, SkipReason } from './core/outcome.ts'
