/** Files made of pages, named by their content: written again after a crash, they are the same files. */

import { createHash, randomUUID } from 'node:crypto'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../util/make-folder.ts'

export interface SavedFile {
  /** Relative to the data folder, with slashes: `files/3f/3f…e1.png`. */
  readonly file: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** A reader sees the whole file or none. Rejects with the system's error, as when the disk is full. */
export async function saveFile(dir: string, bytes: Uint8Array, ending: 'png' | 'pdf'): Promise<SavedFile> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const folder = `files/${sha256.slice(0, 2)}`
  const file = `${folder}/${sha256}.${ending}`
  const saved = { file, bytes: bytes.length, sha256 }
  const path = join(dir, file)
  if ((await stat(path).catch(() => undefined))?.size === bytes.length) return saved
  makeFolder(join(dir, folder))
  const draft = `${path}.${randomUUID()}.spoor-tmp`
  try {
    await writeFile(draft, bytes)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return saved
}
