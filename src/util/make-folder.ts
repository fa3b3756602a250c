/** Folders made one level after the other: Node 20's recursive mkdir never returns on some file systems (/proc). */

import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Makes the folder and those above it. Throws the system's error, also when a file stands in the way (ENOTDIR). */
export function makeFolder(path: string): void {
  const missing: string[] = []
  let folder = resolve(path)
  for (;;) {
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found?.isDirectory() === true) break
    if (found !== undefined) throw notAFolder(folder)
    missing.push(folder)
    const parent = dirname(folder)
    if (parent === folder) break
    folder = parent
  }
  for (const one of missing.toReversed()) makeOne(one)
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder)
  } catch (error) {
    // another process may have been faster
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

function notAFolder(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), {
    code: 'ENOTDIR',
    syscall: 'mkdir',
    path,
  })
}
