/** The export of a task while it crawls: `-o FILE`. */

import { partOf } from '../config/parse.ts'
import { type ItemExport, openExport } from '../items/export.ts'
import { openItemDatabase, type Parts } from './compose.ts'
import type { TaskLaunch } from './launch-options.ts'

export interface TaskExport {
  readonly exports: TaskExports | undefined
  /** Rejects when an export fails; never resolves. */
  readonly exportFault: Promise<never>
}

export interface TaskExports {
  /** Writes what has been settled, without waiting. */
  pumpSoon(): void
  finish(): Promise<void>
}

export async function openTaskExport({ store }: Parts, { options, ...launch }: TaskLaunch): Promise<TaskExport> {
  if (options.output === undefined) return { exports: undefined, exportFault: new Promise<never>(() => undefined) }
  const itemExport: ItemExport = await openExport({
    file: options.output,
    format: options.format,
    rotate: options.outputRotate === undefined ? undefined : partOf(options.outputRotate),
    custom: launch.exportFormat,
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
