/** The tasks of the source that somebody looks at: each is opened once. */

import type { Clock } from '../core/clock.ts'
import { CrawlError } from '../core/errors.ts'
import type { CrawlReader } from '../crawler/contract.ts'
import type { DashboardSource } from './source.ts'
import { type TaskWatch, watchTask } from './watch.ts'

export interface OpenTask {
  readonly reader: CrawlReader
  readonly watch: TaskWatch
}

export interface Tasks {
  /** Rejects with CONFIG_INVALID for a task that is not there, and when the store cannot be read. */
  get(task: string): Promise<OpenTask>
  close(): Promise<void>
}

/** Each has its connection and its curves. */
const MAX_TASKS = 50

export function createTasks(source: DashboardSource, clock: Clock): Tasks {
  const open = new Map<string, Promise<OpenTask>>()

  async function openTask(task: string): Promise<OpenTask> {
    const reader = await source.openReader(task)
    const names = await reader.tasks()
    if (!names.includes(task)) {
      await reader.close()
      throw invalid(`there is no task named ${JSON.stringify(task)} in ${source.place}`)
    }
    return { reader, watch: watchTask({ task, reader, run: await source.run, clock }) }
  }

  return {
    get: (task) => {
      const known = open.get(task)
      if (known !== undefined) return known
      if (open.size >= MAX_TASKS) return Promise.reject(invalid(`expected at most ${MAX_TASKS} tasks to be looked at`))
      const opening = openTask(task)
      open.set(task, opening)
      opening.catch(() => open.delete(task))
      return opening
    },
    close: async () => {
      for (const opening of open.values()) {
        // oxlint-disable-next-line no-await-in-loop -- a few connections
        const one = await opening.catch(() => undefined)
        one?.watch.stop()
        // oxlint-disable-next-line no-await-in-loop -- a few connections
        await one?.reader.close()
      }
    },
  }
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
