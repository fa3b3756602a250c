/** Going through the folders of the cache in an order that stays, and cleaning up on the way. */

import { opendir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { INCOMING, META_ENDING, TEMPORARY } from './page-file.ts'

/** Files of pages, in order of their paths, relative to `root`; those after `after` only. */
export async function* walkPages(root: string, after = ''): AsyncGenerator<string> {
  yield* walkFolder(root, [], after === '' ? [] : `${after}${META_ENDING}`.split('/'))
}

async function* walkFolder(root: string, folders: readonly string[], after: readonly string[]): AsyncGenerator<string> {
  const [first = '', ...rest] = after
  for (const entry of await sortedEntries(join(root, ...folders))) {
    if (entry.name < first) continue
    const path = [...folders, entry.name]
    if (entry.isFolder) yield* walkFolder(root, path, entry.name === first ? rest : [])
    else if (entry.name.endsWith(META_ENDING) && (entry.name !== first || rest.length > 0)) {
      yield path.join('/').slice(0, -META_ENDING.length)
    }
  }
}

interface FolderEntry {
  readonly name: string
  readonly isFolder: boolean
}

async function sortedEntries(folder: string): Promise<readonly FolderEntry[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

/** What dead writers left: temporary files, and bodies that never got their name. */
export async function* walkLeftovers(root: string): AsyncGenerator<string> {
  let directory
  try {
    directory = await opendir(root)
  } catch (error) {
    if (isGone(error)) return
    throw error
  }
  for await (const entry of directory) {
    const path = join(root, entry.name)
    if (entry.isDirectory()) yield* walkLeftovers(path)
    else if (entry.name.includes(TEMPORARY) || entry.name.includes(INCOMING)) yield path
  }
}

/** Removes the folder and those above it, up to `root`, while they are empty. */
export async function removeEmptyFolders(root: string, folders: readonly string[]): Promise<void> {
  for (let depth = folders.length; depth > 0; depth -= 1) {
    try {
      await rmdir(join(root, ...folders.slice(0, depth)))
    } catch {
      // not empty, or gone already
      return
    }
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}
