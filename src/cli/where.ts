/** Where a crawl is kept, in words and as flags: what makes a hint work when it is pasted. */

import type { ResolvedOptions } from '../config/options.ts'
import { storeKindOf } from '../config/store-url.ts'

type Where = Pick<ResolvedOptions, 'dir' | 'store' | 'task'>

const SAFE_WORD = /^[\w@%+=:,./-]+$/
const PASSWORD = /^([a-z][a-z\d+.-]*:\/\/[^/?#:@]*:)[^/?#]*@/i
const PASSWORD_PARAMETER = /([?&][^=&]*password=)[^&#]*/gi

/** An argument as a shell reads it back. */
export const shellWord = (text: string): string => (SAFE_WORD.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** The folder or the store, without a password. */
export function placeOf({ dir, store }: Where): string {
  return store === undefined ? dir : store.replace(PASSWORD, '$1***@').replace(PASSWORD_PARAMETER, '$1***')
}

/** `--dir x --task y` as far as they are not the defaults; of a store without its password. */
export function whereFlags(options: Where): string {
  const { dir, store, task } = options
  const inDir = dir === 'spoor-data' ? '' : ` --dir ${shellWord(dir)}`
  const place = store === undefined ? inDir : ` --store ${shellWord(placeOf(options))}`
  return `${place}${task === 'default' ? '' : ` --task ${shellWord(task)}`}`
}

/** Nothing is left for another command to look at: the store was in the memory of this one. */
export function isGoneAtEnd({ store }: Where): boolean {
  return store !== undefined && storeKindOf(store) === 'memory'
}
