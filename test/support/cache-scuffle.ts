/** Puts, deletes and prunes pages with the same few bodies, so that one process deletes what another is about to use. */

import { ok } from 'node:assert/strict'
import type { CacheSuiteSubject } from '../../src/testing/cache-suite.ts'
import { bodyOf, entryFor, expectBody, idOf, putPage } from '../../src/testing/cache/subject.ts'
import type { Random } from '../../src/util/random.ts'
import { noise } from './server-cache-pages.ts'

/** Pages that anybody puts, with dates so old that anybody prunes them. */
const OLD_MS = 1000
export const OLD_BEFORE_MS = 2000

const STEPS = 30

export interface Scuffler {
  /** Its pages are its own: it knows their last state. */
  readonly index: number
  readonly random: Random
  /** What is left of them: URL and name of the body. */
  readonly last: Map<string, string | undefined>
}

export async function scuffle(subject: CacheSuiteSubject, { index, random, last }: Scuffler): Promise<void> {
  const pick = (n: number): number => Math.floor(random() * n)
  for (let step = 1; step <= STEPS; step += 1) {
    const url = `https://h${index}.test/${pick(3)}`
    // the last step leaves a page
    const dice = step === STEPS ? 0 : pick(10)
    if (dice < 5) {
      const name = `${pick(3)}`
      await putPage(subject, url, sharedBody(name))
      last.set(url, name)
    } else if (dice === 5) {
      await subject.store.prune({ checkedBeforeMs: OLD_BEFORE_MS })
    } else if (dice < 8) {
      await putOld(subject, `https://old.test/${pick(3)}`, `${pick(3)}`)
    } else {
      await subject.store.delete(idOf(subject, url))
      last.set(url, undefined)
    }
    const name = last.get(url)
    if (name !== undefined) await expectBody(subject.store, idOf(subject, url), sharedBody(name))
  }
}

async function putOld(subject: CacheSuiteSubject, url: string, name: string): Promise<void> {
  await subject.store.put(entryFor(subject, url, { fetchedAtMs: OLD_MS, checkedAtMs: OLD_MS }), sharedBody(name))
  const found = await subject.store.get(idOf(subject, url))
  const isWhole = Object.values(SHARED_BODIES).some((body) => Buffer.from(body).equals(found?.body ?? body))
  ok(isWhole, `the body of ${url} is none of those that were put`)
}

/** The third is kept in parts. */
const SHARED_BODIES: Readonly<Record<string, Uint8Array>> = {
  0: bodyOf('0', 4000),
  1: bodyOf('1', 4000),
  2: noise(700_000, 9),
}

export function sharedBody(name: string): Uint8Array {
  return SHARED_BODIES[name] ?? new Uint8Array(0)
}
