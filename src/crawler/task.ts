/** A task made ready to run: its settings in the store, its scope as it was left, its door, its exports. */

import type { ResolvedOptions } from '../config/options.ts'
import { selectFields } from '../extract/select.ts'
import type { EngineTask } from '../engine/contract.ts'
import { createDoor } from '../engine/enqueue.ts'
import type { FrontierStats } from '../frontier/contract.ts'
import { forgetExports } from '../items/export-record.ts'
import { createScope } from '../url/scope.ts'
import type { Parts } from './compose.ts'
import type { LaunchOptions } from './launch.ts'
import { openTaskExport, type TaskExport } from './task-export.ts'
import { requestHeadersOf, taskSettingsOf } from './settings.ts'
import { openTrapWatch, trapKeyOf, type TrapWatch } from './trap-watch.ts'

export interface OpenTask extends TaskExport {
  readonly engineTask: EngineTask
  /** As the store had it before this run. */
  readonly before: FrontierStats
  /** Brings the scope that a seed at this URL would make, without crawling it. */
  widenScope(url: string): void
  /** What was learnt and must be kept before the pages that it came with are settled. Undefined: nothing. */
  saveLearnt(): Promise<void> | undefined
  /** What is kept only now and then is kept. */
  saveAll(): Promise<void>
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
  const traps = await openTrapWatch(options, { state, clock: launch.clock })
  const door = createDoor({
    settings,
    scope,
    maxUrlBytes: options.maxUrlBytes,
    obeyNofollow: options.robots,
    random: launch.random,
    ...(traps === undefined ? {} : { trapOf: traps.trapOf }),
    ...(options.cookies.length === 0 ? {} : { onSeed: (url) => giveCookies(parts, options, url) }),
    onScopeGrown: (url) => {
      grown.add(url)
      scopeChanged = true
    },
  })

  await parts.cookies.load(options.task)
  const opened = await openTaskExport(parts, launch)
  return {
    engineTask: engineTaskOf(launch, { settings, door, traps }),
    before,
    ...opened,
    widenScope: (url) => {
      scope.addSeed(url)
    },
    saveLearnt() {
      const saving: Promise<void>[] = []
      if (parts.cookies.hasChanges()) saving.push(parts.cookies.save())
      const trapsSaved = traps?.saveSoon()
      if (trapsSaved !== undefined) saving.push(trapsSaved)
      if (scopeChanged) saving.push(state.set({ [scopeKey]: JSON.stringify([...grown]) }))
      scopeChanged = false
      return saving.length === 0 ? undefined : Promise.all(saving).then(() => undefined)
    },
    saveAll: async () => {
      await traps?.save()
    },
  }
}

function engineTaskOf(
  { options, handler, onFailed, handlerTimeoutMs }: LaunchOptions,
  { settings, door, traps }: Pick<EngineTask, 'settings' | 'door'> & { readonly traps: TrapWatch | undefined },
): EngineTask {
  return {
    settings,
    handler,
    ...(onFailed === undefined ? {} : { onFailed }),
    door,
    ...(traps === undefined ? {} : { contentTrapOf: traps.contentTrapOf }),
    maxRetries: options.retries,
    handlerTimeoutMs,
    ...(options.select.length === 0 ? {} : { fieldsOf: (page) => selectFields(() => page.$, options.select) }),
    ...requestHeadersOf(options),
    allowPrivate: options.allowPrivate,
    respectRobots: options.robots,
    page: { agent: options.robotsAgent, maxUrlBytes: options.maxUrlBytes },
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
  await forgetExports(store.state, task)
  for (const prefix of [`scope/${task}`, `cookies/${task}`, trapKeyOf(task)]) {
    const keys = await store.state.keys(prefix)
    await store.state.set(Object.fromEntries(keys.map((key) => [key, undefined])))
  }
}
