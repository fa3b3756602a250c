/** Cases of the link graph, for stores that keep it: by the numbers of its contract. */

import { deepEqual, equal } from 'node:assert/strict'
import type { PageLinks, StoredPageLinks } from '../../graph/contract.ts'
import type { StoredRequest } from '../../core/request.ts'
import type { Store } from '../../stores/contract.ts'
import { begin, fingerprintOf, leaseMany, leaseOne, request, settlement, TASK } from './subject.ts'
import type { SuiteCases } from './subject.ts'

function linksTo(names: readonly string[], fields: Partial<PageLinks> = {}): PageLinks {
  const links = names.map((name) => {
    const { url, fingerprint, hostKey } = request(name)
    return { url, fingerprint, hostKey, kind: 'a', rel: '', text: `to ${name}` } as const
  })
  return { links, dropped: 0, title: '', bytes: 0, ms: 0, contentHash: '', isHtml: true, ...fields }
}

async function pagesOf({ links }: Store): Promise<readonly StoredPageLinks[]> {
  const all: StoredPageLinks[] = []
  let after: string | undefined
  do {
    const found = await links?.pages(TASK, { max: 2, ...(after === undefined ? {} : { after }) })
    all.push(...(found?.pages ?? []))
    after = found?.next
  } while (after !== undefined)
  return all
}

/** What each page leads to, by names. */
async function edgesOf(store: Store): Promise<readonly string[]> {
  const names = new Map<string, string>()
  for (const { id, request: known } of (await store.frontier.list({ task: TASK }, { max: 1000 })).records)
    names.set(id, nameOf(known))
  for (const { id, url } of (await store.links?.urls(TASK, { max: 1000 }))?.urls ?? [])
    names.set(id, `${nameOf({ url })}?`)
  return (await pagesOf(store))
    .flatMap(({ page, links }) => links.map(({ target }) => `${names.get(page)} > ${names.get(target)}`))
    .toSorted()
}

const nameOf = ({ url }: Pick<StoredRequest, 'url'>): string => new URL(url).pathname.slice(1)

export const linkCases: SuiteCases = {
  '1. keeps where a page leads with its settlement, and what is known of the page': async (subject) => {
    const { store } = subject
    await begin(subject, [request('a'), request('b')])
    const [a, b] = await leaseMany(store)
    if (a === undefined || b === undefined) throw new Error('Expected two leases')
    const facts = {
      title: 'A \u0000 "page"',
      bytes: 12,
      ms: 34,
      contentHash: 'x'.repeat(16),
      isHtml: false,
      dropped: 3,
    }
    const discovered = [request('c', { depth: 1 }), request('x.test/d', { depth: 1, skip: 'scope' })]
    await store.frontier.settle([
      settlement(a, { discovered, links: linksTo(['b', 'c', 'x.test/d', 'y.test/e'], facts) }),
    ])
    deepEqual(await edgesOf(store), ['a > b', 'a > c', 'a > d', 'a > e?'])
    const [page] = await pagesOf(store)
    deepEqual({ ...page, page: 0, links: [] }, { ...facts, page: 0, links: [] })
    deepEqual(page?.links[0], { ...page?.links[0], kind: 'a', rel: '', text: 'to b' })
    await store.frontier.settle([
      settlement(b, { discovered: [request('y.test/e', { depth: 1 })], links: linksTo(['a']) }),
    ])
    const urls = (await store.links?.urls(TASK, { max: 10 }))?.urls
    const e = await store.frontier.get(TASK, fingerprintOf('y.test/e'))
    deepEqual(
      urls?.map(({ url, request: id }) => [url, id]),
      [['http://y.test/e', e?.id]],
    )
    deepEqual(await store.verify(), [])
  },

  '1. keeps nothing of a lost lease': async (subject) => {
    const { store } = subject
    await begin(subject, [request('a')])
    const lease = await leaseOne(store)
    await store.frontier.settle([settlement({ ...lease, token: `${lease.token}0` }, { links: linksTo(['b']) })])
    deepEqual(await pagesOf(store), [])
  },

  '2. replaces the links of a page that is settled again': async (subject) => {
    const { store } = subject
    await begin(subject, [request('a'), request('b'), request('c')])
    for (const lease of await leaseMany(store))
      await store.frontier.settle([settlement(lease, { links: linksTo(['b']) })])
    await store.frontier.requeue({ task: TASK, state: 'done' })
    for (const lease of await leaseMany(store))
      await store.frontier.settle([settlement(lease, { links: linksTo(['c']) })])
    deepEqual(await edgesOf(store), ['a > c', 'b > c', 'c > c'])
  },

  '2. joins what a page led to before it sent its readers on': async (subject) => {
    const { store } = subject
    await begin(subject, [request('a'), request('b')])
    const { url, fingerprint, hostKey } = request('z')
    const to = { url, fingerprint, hostKey, hop: 'one' }
    const first = await leaseOne(store)
    await store.frontier.settle([settlement(first, { outcome: { kind: 'redirected', to }, links: linksTo(['b']) })])
    const leases = await leaseMany(store)
    const again = leases.find(({ request: { url: own } }) => own === first.request.url)
    if (again === undefined) throw new Error('Expected a lease of the page that was sent on')
    await store.frontier.settle([settlement(again, { links: linksTo(['b', 'c']) })])
    deepEqual(await edgesOf(store), ['a > b', 'a > c?'])
  },

  '3. forgets links with their task, and no others': async (subject) => {
    const { store } = subject
    await begin(subject, [request('a')])
    await store.frontier.settle([settlement(await leaseOne(store), { links: linksTo(['q', 'y.test/r']) })])
    await store.frontier.clear(TASK)
    await begin(subject, [request('a')])
    deepEqual(await pagesOf(store), [])
    equal((await store.links?.urls(TASK, { max: 10 }))?.urls.length, 0)
    deepEqual(await store.verify(), [])
  },
}

export const durableLinkCases: SuiteCases = {
  '1. has what was kept after a crash': async (subject) => {
    await begin(subject, [request('a')])
    await subject.store.frontier.settle([settlement(await leaseOne(subject.store), { links: linksTo(['b']) })])
    const store = await subject.crash?.()
    if (store === undefined) throw new Error('Expected a durable store that can crash')
    deepEqual(await edgesOf(store), ['a > b?'])
  },
}
