/** `spoor cache import` and `export`: WARC files into the cache, and the cache into a WARC file. */

import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { configError, shown } from '../../config/given.ts'
import type { CacheAccess } from '../../crawler/contract.ts'
import { isCrawlError } from '../../core/errors.ts'
import { formatBytes, formatCount } from '../../util/format.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { openFile } from '../page-source.ts'
import { clean, plural, tally } from '../text.ts'
import { filterOf } from './look.ts'
import { openCache, withCache } from './open.ts'
import { everySoOften } from './ticker.ts'

/** A broken archive has thousands of faults, all alike. */
const SHOWN_FAULTS = 5

/** What each reason means, in words. */
const REASONS: Readonly<Record<string, string>> = {
  older: 'the cache has a newer answer',
  status: 'failures and parts are not kept',
  truncated: 'the archive has only a part of them',
  method: 'answers to POST and the like are not kept',
  url: 'no http or https URL',
  'no-http': 'no HTTP answer in the record',
  unresolved: 'revisits of pages that are not there',
}

export async function importArchives(context: CommandContext): Promise<ExitCode> {
  const { positionals } = context
  // a file that is missing is told before anything is made or read
  const sources = []
  for (const name of positionals) sources.push({ name, bytes: await openFile(context.host, name) })
  const cache = await openCache(context, { create: true, fills: true })
  try {
    let code: ExitCode = EXIT.done
    for (const source of sources) if (!(await importOne(context, cache, source))) code = EXIT.failed
    return code
  } finally {
    await cache.close()
  }
}

interface ArchiveSource {
  readonly name: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** False: it holds no WARC record. */
async function importOne(context: CommandContext, cache: CacheAccess, source: ArchiveSource): Promise<boolean> {
  const { output } = context
  const { name } = source
  let faults = 0
  const { records, imported, passedOver } = await cache.importWarc(watched(context, source), (problem, offset) => {
    faults += 1
    if (faults <= SHOWN_FAULTS) output.hint(`${name}, byte ${offset}: ${problem}`)
  })
  output.clearStatus()
  if (output.json) await output.jsonLine({ file: name, records, imported, passedOver, faults })
  output.hint(
    `${name}: ${plural(imported, 'page')} taken from ${plural(records, 'record')}${faults > 0 ? `, ${plural(faults, 'fault')}` : ''}`,
  )
  for (const [reason, count] of Object.entries(passedOver))
    output.hint(`  passed over: ${tally({ [reason]: count })} (${REASONS[reason] ?? reason})`)
  if (records > 0) return true
  output.problem(`spoor: ${shown(name)}: expected WARC records, found none`)
  return false
}

/** The bytes as they are, with the progress shown. */
async function* watched(context: CommandContext, { name, bytes }: ArchiveSource): AsyncGenerator<Uint8Array> {
  const size = await sizeOf(context, name)
  let read = 0
  const ticker = everySoOften(context, () => {
    const share = size === undefined || size === 0 ? '' : ` (${Math.floor((read / size) * 100)} %)`
    return `${name}: ${formatBytes(read)} read${share}`
  })
  try {
    for await (const chunk of bytes) {
      read += chunk.length
      yield chunk
    }
  } finally {
    ticker.stop()
  }
}

async function sizeOf({ host }: CommandContext, name: string): Promise<number | undefined> {
  if (name === '-') return undefined
  return stat(resolve(host.cwd, name)).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  )
}

export async function exportArchive(context: CommandContext): Promise<ExitCode> {
  const { output, host, positionals } = context
  const name = positionals[0] ?? ''
  if (!/\.warc(?:\.gz)?$/i.test(name))
    throw configError(`expected a name that ends in .warc or .warc.gz, found ${shown(name)}`)
  const stopped = new AbortController()
  const unwatch = host.onInterrupt(() => {
    stopped.abort()
  })
  let written = 0
  const ticker = everySoOften(context, () => `${name}: ${formatCount(written)} pages written`)
  try {
    const pages = await withCache(context, (cache) =>
      cache.exportWarc({
        file: resolve(host.cwd, name),
        filter: filterOf({ ...context, positionals: [] }),
        onEntry: () => {
          written += 1
        },
        signal: stopped.signal,
      }),
    )
    ticker.stop()
    if (output.json) await output.jsonLine({ file: name, pages })
    output.hint(`${plural(pages, 'page')} written to ${clean(name)}`)
    return EXIT.done
  } catch (error) {
    if (!isCrawlError(error) || error.code !== 'CRAWL_ABORTED') throw error
    output.problem('spoor: stopped; nothing was written')
    return EXIT.interrupted
  } finally {
    ticker.stop()
    unwatch()
  }
}
