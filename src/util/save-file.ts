/** Files named by their content, in the data folder: written again, also after a crash, they are the same files. */

import { createHash, randomUUID } from 'node:crypto'
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from './make-folder.ts'

export interface SavedFile {
  /** Relative to the data folder, with slashes: `files/3f/3f…e1.png`. */
  readonly file: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/**
 * A reader sees the whole file or none. `ending`: letters and digits; the same content under another ending is the file
 * that is there. Rejects with the system's error, as when the disk is full.
 */
export async function saveFile(dir: string, bytes: Uint8Array, ending: string): Promise<SavedFile> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const folder = `files/${sha256.slice(0, 2)}`
  const there = await findFile(join(dir, folder), { sha256, bytes: bytes.length })
  if (there !== undefined) return { file: `${folder}/${there}`, bytes: bytes.length, sha256 }
  const file = `${folder}/${sha256}.${ending}`
  makeFolder(join(dir, folder))
  const path = join(dir, file)
  const draft = `${path}.${randomUUID()}.spoor-tmp`
  try {
    // on the disk before it has its name: a power cut must not leave an item without its file
    await writeFile(draft, bytes, { flush: true })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return { file, bytes: bytes.length, sha256 }
}

/** The name of a whole file with this content. */
async function findFile(
  folder: string,
  { sha256, bytes }: Pick<SavedFile, 'sha256' | 'bytes'>,
): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => [])
  const name = names.find((one) => one.startsWith(`${sha256}.`) && !one.endsWith('.spoor-tmp'))
  if (name === undefined) return undefined
  return (await stat(join(folder, name)).catch(() => undefined))?.size === bytes ? name : undefined
}
