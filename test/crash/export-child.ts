/** A process that exports a growing list of items and is killed on the way: `export-child.ts FOLDER FILE COUNT [ITEMS A PART]`. */

import { readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from '@photostructure/sqlite'
import type { StateStore } from '../../src/core/state-store.ts'
import type { ItemStore } from '../../src/items/contract.ts'
import { openExport } from '../../src/items/export.ts'
import { itemAt } from './export-items.ts'

const [folder = '', file = '', countText = '0', partText] = process.argv.slice(2)
const count = Number(countText)
let settled = 0

const items: ItemStore = {
  read: async (_task, after, max) => {
    const end = Math.min(settled, after + max)
    return Array.from({ length: Math.max(0, end - after) }, (_, index) => ({
      seq: after + index + 1,
      json: JSON.stringify(itemAt(after + index + 1)),
    }))
  },
  revision: async () => 0,
}

/** One file a key, written beside its place and renamed. */
const state: StateStore = {
  get: async (key) => {
    try {
      return await readFile(pathOf(key), 'utf8')
    } catch {
      return undefined
    }
  },
  set: async (entries) => {
    for (const [key, value] of Object.entries(entries)) {
      await writeFile(`${pathOf(key)}.new`, value ?? '')
      await rename(`${pathOf(key)}.new`, pathOf(key))
    }
  },
  keys: () => readdir(folder),
}

function pathOf(key: string): string {
  return join(folder, `state-${encodeURIComponent(key).slice(0, 60)}`)
}

const exported = await openExport({
  file,
  task: 'default',
  items,
  state,
  openDatabase: (path) => new DatabaseSync(path),
  ...(partText === undefined ? {} : { rotate: { items: Number(partText) } }),
})
// what an earlier run had settled is there at once
settled = exported.count
while (settled < count) {
  settled = Math.min(count, settled + 37)
  await exported.pump()
  process.stdout.write(`${String(settled)}\n`)
}
await exported.finish()
await exported.close()
process.stdout.write('end\n')
