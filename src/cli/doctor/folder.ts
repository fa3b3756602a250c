/** The data folder: may it be written to, and how much room is left. */

import { mkdtemp, rmdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatBytes } from '../../util/format.ts'
import { type Finding, reasonOf } from './finding.ts'

const LITTLE_BYTES = 1024 ** 3
const TOO_LITTLE_BYTES = 64 * 1024 ** 2

export async function folderFindings(dir: string): Promise<readonly Finding[]> {
  const there = await nearestFolder(dir)
  if (there === undefined)
    return [
      {
        check: 'data folder',
        level: 'problem',
        found: `${dir}: a file stands in the way`,
        advice: 'choose another one with --dir',
      },
    ]
  return [await writeFinding(dir, there), await spaceFinding(there)]
}

/** It, or the one above it that is there. Undefined: something that is no folder is in the way. */
async function nearestFolder(dir: string): Promise<string | undefined> {
  for (let folder = dir; ; folder = dirname(folder)) {
    // oxlint-disable-next-line no-await-in-loop -- one level after the other
    const found = await stat(folder).catch(() => undefined)
    if (found !== undefined) return found.isDirectory() ? folder : undefined
    if (folder === dirname(folder)) return undefined
  }
}

async function writeFinding(dir: string, there: string): Promise<Finding> {
  const check = 'data folder'
  try {
    await rmdir(await mkdtemp(join(there, '.spoor-doctor-')))
    return { check, level: 'ok', found: there === dir ? dir : `${dir} can be made` }
  } catch (error) {
    return {
      check,
      level: 'problem',
      found: `${there}: ${reasonOf(error)}`,
      advice: 'make it writable for this user, or choose another one with --dir',
    }
  }
}

async function spaceFinding(there: string): Promise<Finding> {
  const check = 'disk'
  try {
    const { bavail, bsize } = await statfs(there)
    const free = bavail * bsize
    const found = `${formatBytes(free)} free`
    if (free >= LITTLE_BYTES) return { check, level: 'ok', found }
    const advice = 'free some; --cache-max SIZE bounds the download cache'
    return { check, level: free < TOO_LITTLE_BYTES ? 'problem' : 'warning', found, advice }
  } catch (error) {
    return { check, level: 'warning', found: `the room that is left is not known: ${reasonOf(error)}` }
  }
}
