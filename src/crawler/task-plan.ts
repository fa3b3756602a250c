/** Tasks as people write them, made into what a run is started with. */

import { parseRecrawl } from '../config/recrawl.ts'
import { cacheOverrideOf } from '../cache/override.ts'
import type { OptionKey, ResolvedOptions } from '../config/options.ts'
import { nearestName } from '../config/nearest.ts'
import { parseDuration, parseFileField, parseSize } from '../config/parse.ts'
import type { CacheMode } from '../core/request.ts'
import { CrawlError, isCrawlError } from '../core/errors.ts'
import type { Middleware, TaskLimits } from '../engine/contract.ts'
import type { Seeds } from '../engine/feed.ts'
import type { Fetcher } from '../fetch/contract.ts'
import { listOf, parsePattern, testsOf } from '../rules/pattern.ts'
import type { TaskScopeRules } from '../tasks/contract.ts'
import { type TaskChecks, taskProblems } from '../tasks/check.ts'
import type { Task } from './define-task.ts'
import type { LaunchTask } from './launch-options.ts'
import type { Routing } from './router.ts'
import type { Rule } from './rule.ts'

export interface PlanContext {
  /** Of the run. What a task says itself goes before, but for the options in `given`. */
  readonly options: ResolvedOptions
  /** Options that a flag, the environment or the config file gives. */
  readonly given: ReadonlySet<OptionKey>
  /** For tasks without handlers of their own. */
  readonly fallback: Pick<LaunchTask, 'handler' | 'handlerTimeoutMs' | 'onFailed' | 'rules' | 'middleware' | 'reload'>
}

/** Throws as `checkTasks` does. */
export function planTasks(tasks: readonly unknown[], context: PlanContext): readonly LaunchTask[] {
  checkTasks(tasks)
  return (tasks as readonly Task[]).map((task) => planTask(task, context, tasks.length > 1))
}

/** Throws CONFIG_INVALID with all problems, one a line. */
export function checkTasks(tasks: readonly unknown[]): void {
  const problems = taskProblems(tasks, CHECKS)
  if (problems.length === 0) return
  throw invalid(
    problems.length === 1 ? (problems[0] ?? '') : [`${problems.length} problems:`, ...problems].join('\n  '),
  )
}

const CHECKS: TaskChecks = {
  pattern: (value) => {
    const parsed = parsePattern(value)
    return 'test' in parsed ? undefined : parsed.problem
  },
  duration: (value) => problemOf(parseDuration(String(value))),
  size: (value) => problemOf(parseSize(String(value))),
  fileField: (value) => problemOf(parseFileField(String(value))),
  recrawl: (value) => problemOf(parseRecrawl(String(value))),
  cache: (value) => {
    try {
      cacheOverrideOf(value as CacheMode)
      return undefined
    } catch (error) {
      return isCrawlError(error) ? 'a cache mode or { mode, ttlMs }' : String(error)
    }
  },
  nearest: nearestName,
}

function problemOf(
  parsed: { readonly ok: true } | { readonly ok: false; readonly expected: string },
): string | undefined {
  return parsed.ok ? undefined : parsed.expected
}

function planTask(task: Task, context: PlanContext, isOneOfMany: boolean): LaunchTask {
  const { fallback } = context
  const rules = routingOf(task.rules).rules ?? (task.requestHandler === undefined ? fallback.rules : undefined)
  const middleware = [...(fallback.middleware ?? []), ...middlewareOf(task)]
  const onFailed = task.failedRequestHandler ?? fallback.onFailed
  const reload = task.reload ?? fallback.reload
  return {
    options: optionsOf(task, context, isOneOfMany),
    seeds: seedsOf(task),
    handler: task.requestHandler === undefined ? fallback.handler : { kind: 'user', handle: task.requestHandler },
    handlerTimeoutMs: fallback.handlerTimeoutMs,
    ...(rules === undefined ? {} : { rules }),
    ...(middleware.length === 0 ? {} : { middleware }),
    ...(onFailed === undefined ? {} : { onFailed }),
    ...(reload === undefined ? {} : { reload }),
    ...patternsOf(task, context),
    ...limitsOf(task, context),
    ...(task.priority === undefined ? {} : { priority: task.priority }),
    ...fetcherOf(task),
  }
}

function middlewareOf({ rules, middleware }: Task): readonly Middleware[] {
  return [...(routingOf(rules).middleware ?? []), ...listOf(middleware)]
}

/** Told by what it has: another copy of the package may have made the router. */
export function routingOf(from: readonly Rule[] | Routing | undefined): Pick<LaunchTask, 'rules' | 'middleware'> {
  if (from === undefined) return {}
  return 'rules' in from ? { rules: from.rules, middleware: from.middleware } : { rules: from }
}

/** A flag says it for all tasks. */
function optionsOf(task: Task, { options, given }: PlanContext, isOneOfMany: boolean): ResolvedOptions {
  const { maxDepth, waitTime, cookies, headers, fetcher, recrawl, downloads, graph } = task
  const { kind } = scopeOf(task)
  const own: Partial<ResolvedOptions> = {
    ...(maxDepth === undefined ? {} : { maxDepth }),
    ...(waitTime === undefined ? {} : { delayMs: durationOf(waitTime) }),
    ...(kind === undefined ? {} : { scope: kind }),
    ...(recrawl === undefined ? {} : { recrawl: String(recrawl) }),
    ...(downloads === undefined ? {} : { downloads: listOf(downloads) }),
    ...(graph === undefined ? {} : { graph }),
    ...(cookies === undefined ? {} : { cookies: pairsOf(cookies) }),
    ...(headers === undefined ? {} : { headers: pairsOf(headers) }),
    ...(typeof fetcher === 'string' ? { render: RENDER_OF[fetcher] } : {}),
  }
  const kept = Object.entries(own).filter(([key]) => !given.has(key as OptionKey))
  return {
    ...options,
    ...Object.fromEntries(kept),
    task: task.name,
    output: isOneOfMany ? outputOf(options, task.name) : options.output,
  }
}

/** `items.jsonl` is `items-NAME.jsonl` for the task of that name. */
function outputOf({ output }: ResolvedOptions, name: string): string | undefined {
  if (output === undefined || output === '-') return output
  const ending = /(?:\.[a-z0-9]+)?$/i.exec(output)?.[0] ?? ''
  return `${output.slice(0, output.length - ending.length)}-${name}${ending}`
}

const pairsOf = (record: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(record).map(([name, value]) => ({ name, value }))

function scopeOf({ scope }: Task): TaskScopeRules {
  if (scope === undefined) return {}
  return typeof scope === 'string' ? { kind: scope } : scope
}

function patternsOf(task: Task, { given }: PlanContext): Pick<LaunchTask, 'patterns'> {
  const { match, exclude } = scopeOf(task)
  if (match === undefined && exclude === undefined) return {}
  return {
    patterns: {
      match: given.has('match') ? [] : testsOf(match),
      exclude: given.has('exclude') ? [] : testsOf(exclude),
    },
  }
}

/** A limit of the command holds for the run; one that a flag gives takes the place of the task's. */
function limitsOf({ limits = {} }: Task, { given }: PlanContext): Pick<LaunchTask, 'limits'> {
  const { maxPages, maxTime, maxBytes } = limits
  const own: TaskLimits = {
    ...(maxPages === undefined || given.has('maxPages') ? {} : { maxPages }),
    ...(maxTime === undefined || given.has('maxTimeMs') ? {} : { maxTimeMs: durationOf(maxTime) }),
    ...(maxBytes === undefined || given.has('maxBytes') ? {} : { maxBytes: bytesOf(maxBytes) }),
  }
  return Object.keys(own).length === 0 ? {} : { limits: own }
}

function durationOf(value: number | string): number {
  if (typeof value === 'number') return value
  const parsed = parseDuration(value)
  if (!parsed.ok) throw invalid(`expected ${parsed.expected}, found ${value}`)
  return parsed.value
}

function bytesOf(value: number | string): number {
  if (typeof value === 'number') return value
  const parsed = parseSize(value)
  if (!parsed.ok) throw invalid(`expected ${parsed.expected}, found ${value}`)
  return parsed.value
}

function fetcherOf({ fetcher }: Task): Pick<LaunchTask, 'fetcher'> {
  if (fetcher === undefined || typeof fetcher === 'string') return {}
  const own: Fetcher = { fetch: (request) => fetcher.fetch(request), close: () => Promise.resolve() }
  return { fetcher: own }
}

/** A browser is opened for the run when one task or rule may want it. */
export function withBrowser(options: ResolvedOptions, tasks: readonly LaunchTask[]): ResolvedOptions {
  const modes = tasks.flatMap(({ options: own, rules = [] }) => [own.render, ...rules.map(({ render }) => render)])
  return options.render === 'off' && modes.some((mode) => mode === 'on' || mode === 'auto')
    ? { ...options, render: 'auto' }
    : options
}

const RENDER_OF = { http: 'off', browser: 'on', auto: 'auto' } as const

function seedsOf({ seeds = [] }: Task): Seeds {
  return typeof seeds === 'function' ? called(seeds) : asSeeds(seeds)
}

/** Called when the run asks for the first one. */
async function* called(make: Extract<Task['seeds'], (...args: never) => unknown>): AsyncGenerator<SeedEntryOf> {
  yield* asSeeds(await make())
}

type SeedEntryOf = Seeds extends AsyncIterable<infer E> | Iterable<infer E> ? E : never

export function asSeeds(seeds: string | { readonly url: string } | Seeds): Seeds {
  return typeof seeds === 'string' || 'url' in seeds ? [seeds] : seeds
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
