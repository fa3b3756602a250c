/** The scope of a task, with what redirects of seeds have added to it kept in the store. */

import type { StateStore } from '../core/state-store.ts'
import { createScope, type Scope } from '../url/scope.ts'
import type { Random } from '../util/random.ts'
import type { ScopeNews } from './contract.ts'
import type { TaskLaunch } from './launch-options.ts'
import { scopeKeyOf } from './task-keys.ts'

export interface TaskScope {
  readonly scope: Scope
  /** A redirect of a seed led here: the scope grows, also for later runs. */
  grow(url: string): void
  /** A seed at this URL has brought something. */
  announce(url: string): void
  /** Calls back with what the other processes of the crawl must learn. */
  onNews(listener: (news: ScopeNews) => void): void
  /** Undefined: nothing has grown since the last time. */
  save(): Promise<void> | undefined
}

export async function openTaskScope(
  { options: { task, scope: kind, match, exclude }, patterns }: Pick<TaskLaunch, 'options' | 'patterns'>,
  { state, random }: { readonly state: StateStore; readonly random: Random },
): Promise<TaskScope> {
  const scope = createScope({
    kind,
    match: [...match, ...(patterns?.match ?? [])],
    exclude: [...exclude, ...(patterns?.exclude ?? [])],
    random,
  })
  const key = scopeKeyOf(task)
  const grown = new Set(JSON.parse((await state.get(key)) ?? '[]') as readonly string[])
  for (const url of grown) scope.addSeed(url)
  const listeners = new Set<(news: ScopeNews) => void>()
  let changed = false
  const tell = (news: ScopeNews): void => {
    for (const listener of listeners) listener(news)
  }
  return {
    scope,
    grow(url) {
      grown.add(url)
      changed = true
      tell({ task, kind: 'scope', url })
    },
    announce(url) {
      tell({ task, kind: 'seed', url })
    },
    onNews(listener) {
      listeners.add(listener)
    },
    save() {
      if (!changed) return undefined
      changed = false
      return state.set({ [key]: JSON.stringify([...grown]) })
    },
  }
}
