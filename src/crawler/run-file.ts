/** Loads the file of `spoor run`: a module, TypeScript too, whose default export is a task, tasks or a crawler. */

import { statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { OPTIONS, type ResolvedOptions } from '../config/options.ts'
import { CrawlError } from '../core/errors.ts'
import type { Seeds } from '../engine/feed.ts'
import type { RunFile } from './contract.ts'
import { type Crawler, PLAN } from './crawler.ts'
import type { CrawlPlan } from './crawler-plan.ts'
import type { LaunchOptions, LaunchTask } from './launch-options.ts'
import { planTasks, withBrowser } from './task-plan.ts'

export interface RunPlan extends CrawlPlan, Pick<LaunchOptions, 'onEvent'>, Partial<Pick<LaunchOptions, 'onWarning'>> {}

const ENDINGS: ReadonlySet<string> = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'])
const EXPECTED = 'a default export that is a task (defineTask), a list of tasks or a Crawler'
const HANDLER_TIMEOUT_MS = 60_000
/** Of a stack that is shown: where it went wrong, not how it came to be loaded. */
const MAX_FRAMES = 4

/** Throws CONFIG_INVALID for a file that is not there, cannot be loaded, or exports something else. */
export async function planRunFile(file: RunFile, options: ResolvedOptions): Promise<RunPlan> {
  const exported = await loadDefault(file)
  const given = new Set(file.given)
  if (isCrawler(exported)) return only(asNameless(exported[PLAN]({ options, given, seeds: file.urls }), file), file)
  const tasks = Array.isArray(exported) ? (exported as unknown[]) : [exported]
  if (tasks.length === 0) throw invalid(`${file.name}: expected at least one task in the list, found none`)
  if (tasks.some((task) => typeof task !== 'object' || task === null)) throw wrongKind(file, exported)
  const fallback = { handler: { kind: 'page-record' as const }, handlerTimeoutMs: HANDLER_TIMEOUT_MS }
  const planned = inFile(file, () => planTasks(tasks, { options, given, fallback }))
  return only({ options: withBrowser(options, planned), tasks: planned }, file)
}

/** A crawler that says no task, run without --task, has the name that all such have. */
function asNameless(plan: ReturnType<Crawler[typeof PLAN]>, { path, given }: RunFile): typeof plan {
  const [single, another] = plan.tasks
  const isNamed = given.includes('task') || plan.options.task !== OPTIONS.task.default
  if (single === undefined || another !== undefined || isNamed) return plan
  return { ...plan, tasks: [{ ...single, namelessIn: basename(path) }] }
}

/** The task that was asked for by name, with the URLs that were given. */
function only<P extends CrawlPlan>(plan: P, file: RunFile): P {
  const named = file.only === undefined ? undefined : plan.tasks.filter(({ options }) => options.task === file.only)
  if (named?.length === 0) {
    const names = plan.tasks.map(({ options }) => options.task).join(', ')
    throw invalid(`--task: expected one of the tasks of ${file.name} (${names}), found ${JSON.stringify(file.only)}`)
  }
  const tasks = named ?? plan.tasks
  const [first] = tasks
  if (first === undefined) return plan
  return { ...plan, options: { ...plan.options, task: first.options.task }, tasks: withUrls(tasks, file) }
}

function withUrls(tasks: readonly LaunchTask[], { urls, name }: RunFile): readonly LaunchTask[] {
  if (urls.length === 0 && !tasks.some(({ options }) => tasks.length > 1 && asksForSeeds(options))) return tasks
  const [single, another] = tasks
  if (single !== undefined && another === undefined) return [{ ...single, seeds: urls satisfies Seeds }]
  throw invalid(`${name} has ${tasks.length} tasks: expected --task NAME to say which one the URLs and seeds are for`)
}

const asksForSeeds = ({ seedFiles, sitemaps }: ResolvedOptions): boolean => seedFiles.length + sitemaps.length > 0

async function loadDefault(file: RunFile): Promise<unknown> {
  const { path, name } = file
  if (!isFile(path)) throw invalid(`${name}: expected a file, found nothing there`)
  if (!ENDINGS.has(extname(path))) throw invalid(`${name}: expected a .ts, .mts, .js or .mjs file`)
  const module = await load(file)
  if (typeof module !== 'object' || module === null || !('default' in module) || module.default === undefined) {
    const names = Object.keys(module ?? {}).filter((key) => key !== 'default')
    const found = names.length === 0 ? 'nothing is exported' : `found the exports ${names.join(', ')}`
    throw invalid(`${name}: expected ${EXPECTED}; ${found}`)
  }
  return module.default
}

async function load({ path, name }: RunFile): Promise<object | null> {
  const { createJiti } = await import('jiti')
  // what the file imports as `spoor` is what runs it, wherever that is installed
  const spoor: unknown = await import(new URL(`../index${extname(import.meta.url)}`, import.meta.url).href)
  const jiti = createJiti(import.meta.url, {
    fsCache: false,
    interopDefault: false,
    sourceMaps: true,
    virtualModules: { spoor },
  })
  try {
    return await jiti.import<object>(path)
  } catch (error) {
    throw invalid(`${name}: cannot be loaded: ${reasonOf(error)}`, error)
  }
}

/** What happened and where, without the way through the loader. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const message = error.message.trim().replace(/\s*\n\s*/g, ' ')
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node_modules[/\\]jiti|node:/.test(line))
    .slice(0, MAX_FRAMES)
  return [`${error.name === 'Error' ? '' : `${error.name}: `}${message}`, ...frames].join('\n')
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function isCrawler(value: unknown): value is Pick<Crawler, typeof PLAN> {
  return typeof value === 'object' && value !== null && PLAN in value
}

/** Problems of tasks say which file they are in. */
function inFile<T>({ name }: RunFile, plan: () => T): T {
  try {
    return plan()
  } catch (error) {
    if (error instanceof CrawlError) throw invalid(`${name}: ${error.message}`, error)
    throw error
  }
}

function wrongKind({ name }: RunFile, exported: unknown): CrawlError {
  const found = Array.isArray(exported) ? 'a list with something else in it' : `a ${typeof exported}`
  return invalid(`${name}: expected ${EXPECTED}, found ${found}`)
}

function invalid(problem: string, cause?: unknown): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem }, ...(cause === undefined ? {} : { cause }) })
}
