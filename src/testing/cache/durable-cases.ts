/** Cases of stores that outlive their process, share their data and meet damage. */

import { deepEqual, equal } from 'node:assert/strict'
import { bodyOf, expectBody, expectMiss, idOf, listAll, putPage } from './subject.ts'
import type { CacheSuiteCases } from './subject.ts'

const A = 'https://a.test/page'

/** Cases that need what a subject does not have pass without a word: its own tests say what it is. */
export const cacheDurability: CacheSuiteCases = {
  '2. has everything after it was closed and opened again': async (subject) => {
    if (subject.reopen === undefined) return
    await Promise.all(Array.from({ length: 50 }, (_, n) => putPage(subject, `${A}/${n}`)))
    subject.store.note({ hits: 3 })
    const store = await subject.reopen()
    for (let n = 0; n < 50; n += 1) await expectBody(store, idOf(subject, `${A}/${n}`), bodyOf(`${A}/${n}`))
    equal((await store.stats()).counts.hits, 3)
  },

  '3. treats a changed byte as a miss, and takes the page anew': async (subject) => {
    if (subject.damageBody === undefined) return
    for (const bytes of [3000, 2_000_000]) {
      const body = noisy(bytes)
      await putPage(subject, A, body)
      await putPage(subject, `${A}/2`)
      await subject.damageBody(idOf(subject, A))
      await expectMiss(subject.store, idOf(subject, A))
      await expectBody(subject.store, idOf(subject, `${A}/2`), bodyOf(`${A}/2`))
      await putPage(subject, A, body)
      await expectBody(subject.store, idOf(subject, A), body)
    }
  },

  '3. treats a cut body as a miss, and takes the page anew': async (subject) => {
    if (subject.cutBody === undefined) return
    await putPage(subject, A)
    await subject.cutBody(idOf(subject, A))
    await expectMiss(subject.store, idOf(subject, A))
    await putPage(subject, A)
    await expectBody(subject.store, idOf(subject, A), bodyOf(A))
  },

  '4. shows each process what the others have put, changed and deleted': async (subject) => {
    if (subject.join === undefined) return
    const other = await subject.join()
    await putPage(subject, A)
    await expectBody(other, idOf(subject, A), bodyOf(A))
    await other.refresh(idOf(subject, A), { checkedAtMs: subject.nowMs(), headers: [['etag', '"2"']] })
    deepEqual((await subject.store.get(idOf(subject, A)))?.entry.headers, [['etag', '"2"']])
    equal(await other.delete(idOf(subject, A)), true)
    await expectMiss(subject.store, idOf(subject, A))
  },

  '4. lets several processes write at once': async (subject) => {
    if (subject.join === undefined) return
    const stores = [subject.store, await subject.join(), await subject.join()]
    await Promise.all(
      stores.map(async (store, index) => {
        for (let n = 0; n < 30; n += 1) {
          await putPage({ ...subject, store }, `https://h${index}.test/${n}`)
          await putPage({ ...subject, store }, `https://shared.test/${n % 7}`, bodyOf(`shared ${n % 7}`))
        }
      }),
    )
    equal((await listAll(subject.store, {}, 50)).length, 97)
    for (let n = 0; n < 7; n += 1) {
      await expectBody(subject.store, idOf(subject, `https://shared.test/${n}`), bodyOf(`shared ${n}`))
    }
  },
}

/** Not to be packed small: there must be a middle to damage. */
function noisy(bytes: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length: bytes }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}
