/** What others may see and change of a run while it has its store open. */

import { CrawlError } from '../core/errors.ts'
import type { Parts } from './compose.ts'
import type { CrawlReader, StoreLocation } from './contract.ts'
import { createReader } from './read-crawl.ts'
import type { OpenTask } from './task.ts'

interface OpenRun {
  readonly parts: Parts
  readonly tasks: readonly OpenTask[]
}

export interface RunView {
  /** Rejects with CRAWL_ABORTED when the run ended before it was open. */
  readonly opened: Promise<OpenRun>
  open(parts: Parts, tasks: readonly OpenTask[]): void
  /** Nothing will be opened any more. */
  end(): void
  reader(location: StoreLocation, wake: () => void): Promise<CrawlReader>
}

const nothing = (): void => undefined

export function createRunView(): RunView {
  let open: (run: OpenRun) => void = nothing
  let fail: (error: unknown) => void = nothing
  const opened = new Promise<OpenRun>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  opened.catch(() => undefined) // whoever waits for it is told
  return {
    opened,
    open: (parts, tasks) => {
      open({ parts, tasks })
    },
    end: () => {
      fail(new CrawlError('CRAWL_ABORTED'))
    },
    reader: async (location, wake) => {
      const { store } = (await opened).parts
      return createReader({
        store,
        location,
        requeue: async (filter) => {
          const count = await store.frontier.requeue(filter)
          wake()
          return count
        },
        close: () => Promise.resolve(),
      })
    },
  }
}

/** For everybody who works on the store. */
export async function setDelay({ store }: Parts, tasks: readonly OpenTask[], delayMs: number): Promise<void> {
  for (const { engineTask, setDelay: follow } of tasks) {
    follow(delayMs)
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each is a step of the store
    await store.frontier.openTask({ ...engineTask.settings })
  }
}
