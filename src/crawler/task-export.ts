/** The export of a task while it crawls: `-o FILE`. */

import type { ResolvedOptions } from '../config/options.ts'
import { partOf } from '../config/parse.ts'
import { CrawlError } from '../core/errors.ts'
import { type ItemExport, openExport } from '../items/export.ts'
import { exportFormatOf, STDOUT } from '../items/formats.ts'
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

/**
 * One stream has one head and one set of columns: only lines of JSON, each whole, can follow one another there.
 * Throws CONFIG_INVALID when several tasks would write anything else to stdout.
 */
export function checkStdout(tasks: readonly { readonly options: ResolvedOptions }[]): void {
  const streamed = tasks.filter(({ options }) => options.output === STDOUT)
  if (streamed.length < 2) return
  const names = streamed.map(({ options }) => exportFormatOf(STDOUT, options.format))
  const name = names.find((one) => one !== 'jsonl')
  if (name === undefined) return
  const problem = `-o -: expected one task for --format ${name}, found ${streamed.length}: name a file (each task gets its own), choose one with --task, or take jsonl`
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
}

export async function openTaskExport({ store, room }: Parts, { options, ...launch }: TaskLaunch): Promise<TaskExport> {
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
  let pumping: Promise<void> | undefined
  const place = options.output
  exportFault.catch(() => undefined) // looked at where the crawl is waited for
  return {
    exportFault,
    exports: {
      pumpSoon: () => {
        // one at a time: it may be waiting for room
        pumping ??= room
          .patiently(place, () => itemExport.pump())
          .catch((error: unknown) => {
            fault.abort(error)
          })
          .finally(() => {
            pumping = undefined
          })
      },
      finish: async () => {
        await pumping
        await room.patiently(place, () => itemExport.finish())
        await itemExport.close()
      },
    },
  }
}
