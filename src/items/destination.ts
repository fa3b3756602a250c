/** Where an export goes: what the path given really is, and what stands there already. */

import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { makeFolder } from '../util/make-folder.ts'
import type { WriteOutput } from './byte-sink.ts'
import { exportFailed } from './export-failed.ts'
import { STDOUT } from './formats.ts'
import { kindOfFile } from './sqlite.ts'

export type Destination =
  | { readonly kind: 'file'; readonly file: string; readonly hasContent: boolean }
  /** Stdout, a pipe, a device. */
  | { readonly kind: 'stream'; readonly write: WriteOutput; readonly close: () => Promise<void> }

const STDOUT_NAMES: ReadonlySet<string> = new Set([STDOUT, '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])

/**
 * Makes the folder if there is none, and follows a link, so that the file it leads to is replaced and not the link.
 * Throws EXPORT_FAILED for a folder, for what may not be read, and for a database that is not an export.
 */
export async function resolveDestination(path: string, writeOutput: WriteOutput | undefined): Promise<Destination> {
  if (STDOUT_NAMES.has(path)) {
    if (writeOutput === undefined) throw exportFailed(path, new Error('there is no stdout to write to'))
    return { kind: 'stream', write: writeOutput, close: () => Promise.resolve() }
  }
  try {
    return await resolveFile(path)
  } catch (error) {
    throw exportFailed(path, error)
  }
}

async function resolveFile(path: string): Promise<Destination> {
  const file = await realFile(path)
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return { kind: 'file', file, hasContent: false }
  if (found.isDirectory()) throw new Error('it is a folder: name a file in it')
  if (!found.isFile()) return deviceAt(await open(file, 'w'))
  if ((await kindOfFile(file)) === 'database') {
    throw new Error('it is a database that Spoor did not write: choose another name, or remove it')
  }
  return { kind: 'file', file, hasContent: found.size > 0 }
}

function deviceAt(handle: FileHandle): Destination {
  const write = async (bytes: Uint8Array): Promise<void> => {
    let written = 0
    while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten
  }
  return { kind: 'stream', write, close: () => handle.close() }
}

async function realFile(path: string): Promise<string> {
  const absolute = resolve(path)
  try {
    return await realpath(absolute)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  makeFolder(dirname(absolute))
  return join(await realpath(dirname(absolute)), basename(absolute))
}
