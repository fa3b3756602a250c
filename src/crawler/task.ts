/** A task made ready to run: its settings in the store, its scope as it was left, its door, its exports. */

import { readFile, writeFile } from 'node:fs/promises'
import type { ResolvedOptions } from '../config/options.ts'
import { CrawlError } from '../core/errors.ts'
import { selectSchema, urlSchema } from '../extract/select.ts'
import type { EngineTask } from '../engine/contract.ts'
import { createDoor } from '../engine/enqueue.ts'
import type { RenderMode } from '../fetch/contract.ts'
import type { FrontierStats, TaskSettings } from '../frontier/contract.ts'
import type { Store } from '../stores/contract.ts'
import { createIdentity } from '../url/identity.ts'
import { type Parts, withJars } from './compose.ts'
import type { TaskLaunch } from './launch-options.ts'
import { checkFile } from './nameless.ts'
import { openTaskExport, type TaskExport } from './task-export.ts'
import { renderSettingsOf, requestHeadersOf, taskSettingsOf } from './settings.ts'
import { forgetTask } from './forget-task.ts'
import { identityKeyOf } from './task-keys.ts'
import { beginRound, boundsOf, type Round } from './round.ts'
import { routesOf } from './routes.ts'
import { openTaskScope, type TaskScope } from './task-scope.ts'
import { openTrapWatch, type TrapWatch } from './trap-watch.ts'

export interface OpenTask extends TaskExport {
  readonly engineTask: EngineTask
  /** As the store had it before this run. */
  readonly before: FrontierStats
  /** Over pages that are known, when one is under way. */
  readonly round: Round | undefined
  readonly scope: TaskScope
  /** What was learnt and must be kept before the pages that it came with are settled. Undefined: nothing. */
  saveLearnt(): Promise<void> | undefined
  /** The settings of the engine's task follow; those in the store are the caller's business. */
  setDelay(delayMs: number): void
  /** What is kept only now and then is kept. */
  saveAll(): Promise<void>
}

export async function openTask(parts: Parts, launch: TaskLaunch): Promise<OpenTask> {
  const { options } = launch
  const { frontier, state } = parts.store
  if (options.graph && parts.store.links === undefined) throw keepsNoLinks(parts.store)
  if (options.fresh) await forgetTask(parts.store, options.task)
  const settings: { -readonly [K in keyof TaskSettings]: TaskSettings[K] } = taskSettingsOf(options)
  await frontier.openTask({ ...settings })
  await state.set({ [identityKeyOf(options.task)]: JSON.stringify(options.identity) })
  const before = await frontier.stats(options.task)
  await checkFile(parts.store, launch, before)
  const round = await beginRound(parts.store, launch, before)

  const scope = await openTaskScope(launch, { state, random: launch.random })
  const traps = await openTrapWatch(options, { state, clock: launch.clock })
  const door = createDoor({
    settings,
    scope: scope.scope,
    maxUrlBytes: options.maxUrlBytes,
    ...(options.identity.length === 0 ? {} : { identityOf: createIdentity(options.identity).identityOf }),
    obeyNofollow: options.robots,
    random: launch.random,
    ...(traps === undefined ? {} : { trapOf: traps.trapOf }),
    onSeed: (url, isNews) => {
      if (isNews) scope.announce(url)
      if (options.cookies.length > 0) giveCookies(parts, options, url)
    },
    onScopeGrown: scope.grow,
  })

  await loadCookies(parts, options)
  const opened = await openTaskExport(parts, launch)
  return {
    engineTask: withRules(launch, engineTaskOf(parts, launch, { settings, door, traps, round })),
    before,
    round,
    ...opened,
    scope,
    saveLearnt() {
      const saving: Promise<void>[] = []
      if (parts.cookies.hasChanges()) saving.push(parts.cookies.save())
      const othersCookies = options.keepCookies ? parts.cookies.refreshSoon(options.task) : undefined
      if (othersCookies !== undefined) saving.push(othersCookies)
      const trapsSaved = traps?.saveSoon()
      if (trapsSaved !== undefined) saving.push(trapsSaved)
      const scopeSaved = scope.save()
      if (scopeSaved !== undefined) saving.push(scopeSaved)
      return saving.length === 0 ? undefined : Promise.all(saving).then(() => undefined)
    },
    setDelay: (delayMs) => {
      settings.delayMs = delayMs
      settings.loopbackDelayMs = delayMs
    },
    saveAll: async () => {
      await traps?.save()
      await saveCookies(parts, options)
    },
  }
}

function keepsNoLinks({ location }: Store): CrawlError {
  const problem = `--graph: expected the embedded store, found ${location}, which keeps no links; leave out --store or --graph`
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}

interface TaskParts extends Pick<EngineTask, 'settings' | 'door'> {
  readonly traps: TrapWatch | undefined
  readonly round: Round | undefined
}

function withRules({ rules, options }: TaskLaunch, task: EngineTask): EngineTask {
  if (rules === undefined) return task
  const renderOf = (mode: RenderMode): Pick<EngineTask, 'render'> => renderPart({ ...options, render: mode })
  return { ...task, routeOf: routesOf(rules, task, renderOf) }
}

function engineTaskOf(
  { cookies, store }: Parts,
  launch: TaskLaunch,
  { settings, door, traps, round }: TaskParts,
): EngineTask {
  const { options, handler, onFailed, handlerTimeoutMs, fetcher, middleware = [] } = launch
  const fields = selectSchema(options.select)
  const downloads = urlSchema(options.downloads)
  return {
    ...pick(launch, ['limits', 'priority']),
    ...(middleware.length === 0 ? {} : { middleware }),
    ...(fetcher === undefined ? {} : { fetcher: withJars(fetcher, cookies, options) }),
    settings,
    handler,
    ...(onFailed === undefined ? {} : { onFailed }),
    door,
    ...(traps === undefined ? {} : { contentTrapOf: traps.contentTrapOf }),
    maxRetries: options.retries,
    handlerTimeoutMs,
    ...(round?.asksAnew === true ? { reloadSinceMs: round.startedAtMs } : {}),
    ...(store.frontier.capabilities.visits === true
      ? { visits: { bounds: boundsOf(options), isRound: round !== undefined } }
      : {}),
    ...(fields === undefined ? {} : { fields }),
    ...(downloads === undefined ? {} : { downloads }),
    ...(options.maxDownloadBytes === undefined ? {} : { maxDownloadBytes: options.maxDownloadBytes }),
    ...requestHeadersOf(options),
    ...renderPart(options),
    allowPrivate: options.allowPrivate,
    respectRobots: options.robots,
    ...readingOf(options),
  }
}

function readingOf({
  graph,
  robotsAgent: agent,
  maxUrlBytes,
}: ResolvedOptions): Pick<EngineTask, 'page' | 'keepsLinks'> {
  const page = { agent, maxUrlBytes }
  return graph ? { page: { ...page, withText: true }, keepsLinks: true } : { page }
}

function renderPart(options: ResolvedOptions): Pick<EngineTask, 'render'> {
  const render = renderSettingsOf(options)
  return render === undefined ? {} : { render }
}

/** Without what is undefined. */
function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])) as Pick<T, K>
}

async function loadCookies({ cookies }: Parts, { task, loadCookies: file }: ResolvedOptions): Promise<void> {
  await cookies.load(task)
  if (file === undefined) return
  try {
    cookies.importText(task, await readFile(file, 'utf8'))
  } catch (error) {
    const problem = `--load-cookies: expected a cookies.txt that can be read, found ${messageOf(error)}`
    throw new CrawlError('CONFIG_INVALID', { context: { problem }, cause: error })
  }
}

async function saveCookies({ cookies }: Parts, { task, saveCookies: file }: ResolvedOptions): Promise<void> {
  if (file === undefined) return
  try {
    await writeFile(file, cookies.exportText(task), { mode: 0o600 })
  } catch (error) {
    throw new CrawlError('EXPORT_FAILED', { context: { file, problem: messageOf(error) }, cause: error })
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function giveCookies({ cookies }: Parts, options: ResolvedOptions, url: string): void {
  cookies.addUserCookies(
    options.task,
    [url],
    options.cookies.map(({ name, value }) => `${name}=${value}`),
  )
}
