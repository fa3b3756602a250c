/** The link graph in the memory store. */

import type { LinkDraft, LinkPage, LinkStore, PageLinks, StoredPageLinks } from '../../graph/contract.ts'
import type { Settlement } from '../../frontier/contract.ts'
import { taskOf } from './model.ts'
import type { Model, Row, Task } from './model.ts'

/** To be called when what the page has discovered is there. */
export function keepLinks(row: Row, { lease, links, outcome }: Settlement): void {
  const { task } = row
  const isFirst = lease.hops.length === 0
  if (links === undefined) {
    if (isFirst && outcome.kind === 'redirected') row.links = undefined
    return
  }
  for (const { fingerprint, url } of links.links) {
    const isNew = !task.rows.has(fingerprint) && !task.linkUrls.has(fingerprint)
    if (isNew) task.linkUrls.set(fingerprint, { id: task.linkUrls.size + 1, url })
  }
  row.links = isFirst || row.links === undefined ? links : joined(row.links, links)
}

function joined(before: PageLinks, now: PageLinks): PageLinks {
  const all = new Map<string, LinkDraft>()
  for (const link of [...before.links, ...now.links]) {
    const key = `${link.fingerprint} ${link.kind} ${link.rel}`
    if (!all.has(key)) all.set(key, link)
  }
  return { ...now, links: [...all.values()], dropped: before.dropped + now.dropped }
}

export function createLinks(model: Model): LinkStore {
  return {
    pages: async (name, page) => {
      const task = taskOf(model, name)
      const rows = [...task.rows.values()].filter(({ links }) => links !== undefined)
      const { found, ...rest } = pageOf(rows, page)
      return { pages: found.map((row) => storedLinks(task, row)), ...rest }
    },
    urls: async (name, page) => {
      const task = taskOf(model, name)
      const all = [...task.linkUrls].map(([fingerprint, url]) => ({ ...url, row: task.rows.get(fingerprint) }))
      const { found, ...rest } = pageOf(all, page)
      const urls = found.map(({ id, url, row }) => ({
        id: `u${id}`,
        url,
        ...(row === undefined ? {} : { request: String(row.id) }),
      }))
      return { urls, ...rest }
    },
  }
}

function pageOf<T extends { readonly id: number }>(
  all: readonly T[],
  { after = '0', max }: LinkPage,
): { readonly found: readonly T[]; readonly next?: string } {
  const rest = all.filter(({ id }) => id > Number(after)).toSorted((a, b) => a.id - b.id)
  const found = rest.slice(0, max)
  const last = found.at(-1)
  return rest.length > max && last !== undefined ? { found, next: String(last.id) } : { found }
}

function storedLinks(task: Task, { id, links }: Row): StoredPageLinks {
  const { links: drafts = [], ...facts } = links ?? NO_LINKS
  return {
    page: String(id),
    links: drafts.map(({ fingerprint, kind, rel, text }) => ({
      target: targetOf(task, fingerprint),
      kind,
      rel,
      text,
    })),
    ...facts,
  }
}

const NO_LINKS: PageLinks = { links: [], dropped: 0, title: '', bytes: 0, ms: 0, contentHash: '', isHtml: false }

function targetOf(task: Task, fingerprint: string): string {
  const met = task.linkUrls.get(fingerprint)
  return met === undefined ? String(task.rows.get(fingerprint)?.id ?? '') : `u${met.id}`
}
