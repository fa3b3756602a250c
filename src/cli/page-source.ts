/** Bytes that a command is pointed at: a file, stdin as `-`, or a page of the web. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { configError, shown } from '../config/given.ts'
import type { FetchedPage, PageFetcher } from '../crawler/contract.ts'
import { CrawlError } from '../core/errors.ts'
import type { CommandContext } from './command.ts'
import type { CliHost } from './host.ts'
import { loadLibrary } from './library.ts'

/** A local page or file is read whole: this is more than any page of the web is allowed. */
const MAX_FILE_BYTES = 512 * 1024 * 1024

/** Throws SEEDS_UNREADABLE when there is no such file. */
export async function openFile(host: CliHost, name: string): Promise<AsyncIterable<Uint8Array>> {
  if (name === '-') return host.stdin
  const path = resolve(host.cwd, name)
  try {
    const found = await stat(path)
    if (found.isDirectory()) throw new TypeError('expected a file, found a folder')
    return createReadStream(path)
  } catch (error) {
    throw unreadable(name, error)
  }
}

/** Throws SEEDS_UNREADABLE when there is no such file, or when it is too long. */
export async function readFileBytes(host: CliHost, name: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of await openFile(host, name)) {
      length += part.length
      if (length > MAX_FILE_BYTES) throw new RangeError(`expected at most ${MAX_FILE_BYTES} bytes`)
      parts.push(part)
    }
  } catch (error) {
    throw unreadable(name, error)
  }
  return Buffer.concat(parts)
}

function unreadable(name: string, error: unknown): Error {
  if (error instanceof CrawlError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EACCES: 'it may not be read',
    EISDIR: 'expected a file, found a folder',
  }
  const problem = known[code] ?? (error instanceof Error ? error.message : String(error))
  return configError(`${shown(name)}: ${problem}`, error)
}

/** One request with the options of the command. Never rejects for what a server does. */
export async function fetchPage(context: CommandContext, url: string): Promise<FetchedPage> {
  const fetcher = await openFetcherOf(context)
  try {
    return await fetcher.fetchOnce(url)
  } finally {
    await fetcher.close()
  }
}

/** With the options of the command, and the cache where one is named. */
export async function openFetcherOf(context: CommandContext): Promise<PageFetcher> {
  const { options, host, output } = context
  const { openPageFetcher } = await loadLibrary()
  return openPageFetcher({ ...options, ...cacheUse(context), env: host.env, onWarning: output.hint })
}

/** The cache belongs to a data folder or a store: it is used when one is named. */
function cacheUse({ options, host, givenBy }: CommandContext): {
  readonly dir: string
  readonly useCache: boolean
} {
  const useCache = givenBy.has('dir') || givenBy.has('store')
  const mode = givenBy.get('cache')
  if (!useCache && mode?.startsWith('-') === true && options.cache !== 'off')
    throw configError(
      `${mode} ${options.cache}: expected --dir (or --store) beside it, which says whose cache is meant`,
    )
  return { dir: resolve(host.cwd, options.dir), useCache }
}
