/** The tree of a page for those who ask for one, bounded in size and depth: cheerio over parse5, loaded when it is needed. */

import type * as Cheerio from 'cheerio'
import { loadLate } from '../util/load-late.ts'
import { nextTurn } from '../util/next-turn.ts'
import { limitNesting } from './nesting.ts'

// 60 ms and some memory: only for those who want a tree, which `$` must give them at once
const cheerio = loadLate<typeof Cheerio>('cheerio')

/** Characters that a tree is built of at the most: its nodes weigh fifty times as much. */
const MAX_TREE_CHARS = 8 * 1024 * 1024
/** Read in one turn: a millisecond for pages as they are, a hundred for the worst that there can be. */
const CHARS_A_TURN = 4 * 1024

export function loadTree(text: string, { xml }: { readonly xml: boolean }): Cheerio.CheerioAPI {
  const { load } = cheerio()
  return load(limitNesting(text.slice(0, MAX_TREE_CHARS)), xml ? { xml: true } : {})
}

/** The same of HTML, in turns. */
export async function loadTreeInTurns(text: string): Promise<Cheerio.CheerioAPI> {
  const html = limitNesting(text.slice(0, MAX_TREE_CHARS))
  const { stringStream } = cheerio()
  let feed: { write(part: string): unknown; end(rest: string): unknown } | undefined
  const tree = new Promise<Cheerio.CheerioAPI>((resolve, reject) => {
    feed = stringStream({}, (error, $) => {
      if (error) reject(error)
      else resolve($)
    })
  })
  for (let at = 0; at < html.length; at += CHARS_A_TURN) {
    feed?.write(html.slice(at, at + CHARS_A_TURN))
    // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
    await nextTurn()
  }
  feed?.end('')
  return await tree
}
