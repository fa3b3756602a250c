/** What a folder takes up. */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface FolderBytes {
  /** Lengths of the files. */
  readonly bytes: number
  /** Blocks of the files and folders. */
  readonly onDisk: number
  readonly files: number
}

const BLOCK_BYTES = 512

export function folderBytes(folder: string): FolderBytes {
  let bytes = 0
  let onDisk = 0
  let files = 0
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(folder, name))
    onDisk += found.blocks * BLOCK_BYTES
    if (!found.isFile()) continue
    bytes += found.size
    files += 1
  }
  return { bytes, onDisk, files }
}
