/** The tree of a page for those who ask for one, bounded in size and depth: cheerio over parse5, loaded when it is needed. */

import type * as Cheerio from 'cheerio'
import { loadLate } from '../util/load-late.ts'
import { limitNesting } from './nesting.ts'

// 60 ms and some memory: only for those who want a tree, which `$` must give them at once
const cheerio = loadLate<typeof Cheerio>('cheerio')

/** Characters that a tree is built of at the most: its nodes weigh fifty times as much. */
const MAX_TREE_CHARS = 8 * 1024 * 1024

export function loadTree(text: string, { xml }: { readonly xml: boolean }): Cheerio.CheerioAPI {
  const { load } = cheerio()
  return load(limitNesting(text.slice(0, MAX_TREE_CHARS)), xml ? { xml: true } : {})
}
