/** A task made ready to run: its settings in the store, its scope as it was left, its door, its exports. */

import type { ResolvedOptions } from '../config/options.ts'
import { selectFields } from '../extract/select.ts'
import type { EngineTask } from '../engine/contract.ts'
import { createDoor } from '../engine/enqueue.ts'
import type { FrontierStats } from '../frontier/contract.ts'
import { openExport, type ItemExport } from '../items/export.ts'
import { createScope } from '../url/scope.ts'
import { openItemDatabase, type Parts } from './compose.ts'
import type { LaunchOptions } from './launch.ts'
import { requestHeadersOf, taskSettingsOf } from './settings.ts'

export interface OpenTask {
  readonly engineTask: EngineTask
  /** As the store had it before this run. */
  readonly before: FrontierStats
  readonly exports: TaskExports | undefined
  /** Rejects when an export fails; never resolves. */
  readonly exportFault: Promise<never>
  /** Brings the scope that a seed at this URL would make, without crawling it. */
  widenScope(url: string): void
  /** What was learnt and must be kept before the pages that it came with are settled. Undefined: nothing. */
  saveLearnt(): Promise<void> | undefined
}

export interface TaskExports {
  /** Writes what has been settled, without waiting. */
  pumpSoon(): void
  finish(): Promise<void>
}

export async function openTask(parts: Parts, launch: LaunchOptions): Promise<OpenTask> {
  const { options } = launch
  const { frontier, state } = parts.store
  if (options.fresh) await forget(parts, options.task)
  const settings = taskSettingsOf(options)
  await frontier.openTask(settings)
  const before = await frontier.stats(options.task)

  const scope = createScope({
    kind: options.scope,
    match: options.match,
    exclude: options.exclude,
    random: launch.random,
  })
  const scopeKey = `scope/${options.task}`
  const grown = new Set(JSON.parse((await state.get(scopeKey)) ?? '[]') as readonly string[])
  for (const url of grown) scope.addSeed(url)
  let scopeChanged = false
  const door = createDoor({
    settings,
    scope,
    maxUrlBytes: options.maxUrlBytes,
    obeyNofollow: options.robots,
    random: launch.random,
    ...(options.cookies.length === 0 ? {} : { onSeed: (url) => giveCookies(parts, options, url) }),
    onScopeGrown: (url) => {
      grown.add(url)
      scopeChanged = true
    },
  })

  await parts.cookies.load(options.task)
  const opened = await openTaskExport(parts, launch)
  return {
    engineTask: {
      settings,
      handler: launch.handler,
      ...(launch.onFailed === undefined ? {} : { onFailed: launch.onFailed }),
      door,
      maxRetries: options.retries,
      handlerTimeoutMs: launch.handlerTimeoutMs,
      ...(options.select.length === 0 ? {} : { fieldsOf: (page) => selectFields(() => page.$, options.select) }),
      ...requestHeadersOf(options),
      allowPrivate: options.allowPrivate,
      respectRobots: options.robots,
      page: { agent: options.robotsAgent, maxUrlBytes: options.maxUrlBytes },
    },
    before,
    ...opened,
    widenScope: (url) => {
      scope.addSeed(url)
    },
    saveLearnt() {
      const cookies = parts.cookies.hasChanges() ? parts.cookies.save() : undefined
      if (!scopeChanged) return cookies
      scopeChanged = false
      const scopes = state.set({ [scopeKey]: JSON.stringify([...grown]) })
      return cookies === undefined ? scopes : Promise.all([cookies, scopes]).then(() => undefined)
    },
  }
}

function giveCookies({ cookies }: Parts, options: ResolvedOptions, url: string): void {
  cookies.addUserCookies(
    options.task,
    [url],
    options.cookies.map(({ name, value }) => `${name}=${value}`),
  )
}

async function forget({ store }: Parts, task: string): Promise<void> {
  await store.frontier.clear(task)
  for (const prefix of [`scope/${task}`, `cookies/${task}`, `traps/${task}`]) {
    const keys = await store.state.keys(prefix)
    await store.state.set(Object.fromEntries(keys.map((key) => [key, undefined])))
  }
}

async function openTaskExport(
  { store }: Parts,
  { options, ...launch }: LaunchOptions,
): Promise<Pick<OpenTask, 'exports' | 'exportFault'>> {
  if (options.output === undefined) return { exports: undefined, exportFault: new Promise<never>(() => undefined) }
  const itemExport: ItemExport = await openExport({
    file: options.output,
    format: options.format,
    task: options.task,
    items: store.items,
    state: store.state,
    openDatabase: openItemDatabase,
    clock: launch.clock,
    log: launch.log,
    ...(launch.writeOutput === undefined ? {} : { writeOutput: launch.writeOutput }),
  })
  const fault = new AbortController()
  const exportFault = new Promise<never>((_resolve, reject) => {
    fault.signal.addEventListener('abort', () => {
      reject(fault.signal.reason as Error)
    })
  })
  exportFault.catch(() => undefined) // looked at where the crawl is waited for
  return {
    exportFault,
    exports: {
      pumpSoon: () => {
        itemExport.pump().catch((error: unknown) => {
          fault.abort(error)
        })
      },
      finish: async () => {
        await itemExport.finish()
        await itemExport.close()
      },
    },
  }
}
