/** The tasks of a run: which of them still take work, up to which limit, and whose turn comes first. */

import type { EngineTask, FinishReason } from './contract.ts'

/** Tasks that can be leased in one call of the frontier. */
export interface TaskGroup {
  readonly tasks: readonly string[]
  readonly pageLimit?: number
}

interface RankedGroup extends TaskGroup {
  readonly priority: number
}

export interface TaskRoster {
  readonly names: readonly string[]
  /** Those that still take work: higher priority first, and among equals each first in its turn. */
  groups(): readonly TaskGroup[]
  /** The next call of `groups` begins with another one among equals. */
  turn(): void
  /** It takes no more work. */
  close(name: string, reason: FinishReason): void
  isOpen(name: string): boolean
  /** Why the first task that was closed was closed. */
  readonly closedBy: FinishReason | undefined
  pageLimitOf(name: string): number | undefined
}

export function createTaskRoster(tasks: ReadonlyMap<string, EngineTask>, maxPages: number | undefined): TaskRoster {
  const names = [...tasks.keys()]
  const open = new Set(names)
  let closedBy: FinishReason | undefined
  let ranked = rank()
  let turns = 0
  let ordered: readonly TaskGroup[] | undefined

  function pageLimitOf(name: string): number | undefined {
    const own = tasks.get(name)?.limits?.maxPages
    if (own === undefined || maxPages === undefined) return own ?? maxPages
    return Math.min(own, maxPages)
  }

  function rank(): readonly RankedGroup[] {
    const groups = new Map<string, RankedGroup & { readonly tasks: string[] }>()
    for (const name of open) {
      const pageLimit = pageLimitOf(name)
      const priority = tasks.get(name)?.priority ?? 0
      const key = `${priority} ${String(pageLimit)}`
      const group = groups.get(key) ?? { priority, tasks: [], ...(pageLimit === undefined ? {} : { pageLimit }) }
      group.tasks.push(name)
      groups.set(key, group)
    }
    return [...groups.values()].toSorted((a, b) => b.priority - a.priority)
  }

  /** Groups of one priority change places, turn by turn. */
  function inTurn(): readonly TaskGroup[] {
    if (ranked.length < 2) return ranked
    return ranked.flatMap((group, index) => {
      if (index > 0 && ranked[index - 1]?.priority === group.priority) return []
      const equals = ranked.filter(({ priority }) => priority === group.priority)
      const from = turns % equals.length
      return [...equals.slice(from), ...equals.slice(0, from)]
    })
  }

  return {
    names,
    groups: () => (ordered ??= inTurn()),
    turn() {
      if (ranked.length < 2) return
      turns++
      ordered = undefined
    },
    close(name, reason) {
      if (!open.delete(name)) return
      closedBy ??= reason
      ranked = rank()
      ordered = undefined
    },
    isOpen: (name) => open.has(name),
    get closedBy() {
      return closedBy
    },
    pageLimitOf,
  }
}
