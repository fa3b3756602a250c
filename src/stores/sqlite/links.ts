/** The link graph in the embedded store: one row a page, with the ids of what it leads to. */

import { joinLinks, type NumberedLink, packLinks, unpackLinks } from '../../graph/codec.ts'
import type { LinkDraft, LinkPage, LinkStore, PageFacts, StoredPageLinks, StoredUrl } from '../../graph/contract.ts'
import type { Settlement } from '../../frontier/contract.ts'
import { FINGERPRINT_LENGTH } from './add.ts'
import { queueOf, taskOf } from './session.ts'
import type { Session, Task } from './session.ts'
import type { WriteQueue } from './write-queue.ts'

/** To be called when what the page has discovered is there. */
export function keepLinks(
  session: Session,
  on: { readonly id: number; readonly task: Task },
  settled: Settlement,
): void {
  const { sql } = session
  const { lease, links: kept, outcome } = settled
  const isFirst = lease.hops.length === 0
  // of the round before: a page that only sends its readers on now leads nowhere itself
  if (kept === undefined && isFirst && outcome.kind === 'redirected')
    sql.run('DELETE FROM graph_pages WHERE request_id = ?', on.id)
  if (kept === undefined) return
  const { links, dropped, ...facts } = kept
  const numbered = links
    .filter(({ fingerprint }) => fingerprint.length === FINGERPRINT_LENGTH)
    .map(({ kind, rel, text, ...url }): NumberedLink => ({ target: targetOf(session, on.task, url), kind, rel, text }))
  const before = isFirst ? undefined : rowOf(session, on.id)
  sql.run(
    'INSERT OR REPLACE INTO graph_pages VALUES (?, ?, ?, ?)',
    on.id,
    packLinks(before === undefined ? numbered : joinLinks(unpackLinks(before.links), numbered)),
    dropped + (before?.dropped ?? 0),
    JSON.stringify(facts),
  )
}

/** The request's id, or the negative one of a URL that is none. */
function targetOf(
  session: Session,
  task: Task,
  { url, fingerprint, hostKey }: Pick<LinkDraft, 'url' | 'fingerprint' | 'hostKey'>,
): number {
  const { sql } = session
  const queue = queueOf(session, task, hostKey)
  const find = (table: 'requests' | 'graph_urls'): number | undefined =>
    sql.one<{ id: number }>(`SELECT id FROM ${table} WHERE queue_id = ? AND fp = ?`, queue.id, fingerprint)?.id
  const known = find('requests')
  if (known !== undefined) return known
  const met = find('graph_urls')
  if (met !== undefined) return -met
  const row = sql.one<{ id: number }>(
    'INSERT INTO graph_urls(queue_id, fp, url) VALUES (?, ?, ?) RETURNING id',
    queue.id,
    fingerprint,
    url,
  )
  return -(row?.id ?? 0)
}

interface LinksRow {
  readonly request_id: number
  readonly links: string
  readonly dropped: number
  readonly facts: string
}

function rowOf({ sql }: Session, id: number): LinksRow | undefined {
  return sql.one<LinksRow>('SELECT * FROM graph_pages WHERE request_id = ?', id)
}

/** Ids looked at by one statement, so that none takes long, whosever rows they are. */
const WINDOW = 20_000

export function createLinks(session: Session, queue: WriteQueue): LinkStore {
  return {
    pages: async (task, page) => {
      const { rows, next } = queue.read(() => windowOf<LinksRow>(session, PAGES, { task, ...page }))
      return { pages: rows.map(pageOf), ...(next === undefined ? {} : { next }) }
    },
    urls: async (task, page) => {
      const { rows, next } = queue.read(() => windowOf<UrlRow>(session, URLS, { task, ...page }))
      return { urls: rows.map(urlOf), ...(next === undefined ? {} : { next }) }
    },
  }
}

interface UrlRow {
  readonly id: number
  readonly url: string
  readonly request: number | null
}

const PAGES = {
  last: 'SELECT max(request_id) AS id FROM graph_pages',
  rows: `SELECT g.*, g.request_id AS id FROM graph_pages g CROSS JOIN requests r ON r.id = g.request_id
    CROSS JOIN queues q ON q.id = r.queue_id
    WHERE g.request_id > ? AND g.request_id <= ? AND q.task_id = ? ORDER BY g.request_id LIMIT ?`,
}

const URLS = {
  last: 'SELECT max(id) AS id FROM graph_urls',
  rows: `SELECT u.id, u.url, (SELECT r.id FROM requests r WHERE r.queue_id = u.queue_id AND r.fp = u.fp) AS request
    FROM graph_urls u CROSS JOIN queues q ON q.id = u.queue_id
    WHERE u.id > ? AND u.id <= ? AND q.task_id = ? ORDER BY u.id LIMIT ?`,
}

interface Found<Row> {
  readonly rows: readonly Row[]
  readonly next?: string
}

function windowOf<Row>(
  session: Session,
  query: typeof PAGES,
  { task, after = '0', max }: LinkPage & { readonly task: string },
): Found<Row> {
  const { sql } = session
  const { id: taskId } = taskOf(session, task)
  if (!hasGraph(session)) return { rows: [] }
  const last = sql.one<{ id: number | null }>(query.last)?.id ?? 0
  const from = Number(after)
  const upTo = Math.min(last, from + WINDOW)
  const rows = sql.all<Row & { readonly id: number }>(query.rows, from, upTo, taskId, max)
  const reached = rows.length === max ? (rows.at(-1)?.id ?? upTo) : upTo
  return reached >= last ? { rows } : { rows, next: String(reached) }
}

/** A folder of before there were links is not changed by looking at it. */
export function hasGraph({ sql }: Session): boolean {
  return sql.one("SELECT 1 FROM sqlite_schema WHERE name = 'graph_pages'") !== undefined
}

function pageOf({ request_id: id, links, dropped, facts }: LinksRow): StoredPageLinks {
  return {
    page: String(id),
    links: unpackLinks(links).map(({ target, ...rest }) => ({ target: nameOf(target), ...rest })),
    dropped,
    ...(JSON.parse(facts) as PageFacts),
  }
}

function urlOf({ id, url, request }: UrlRow): StoredUrl {
  return { id: nameOf(-id), url, ...(request === null ? {} : { request: String(request) }) }
}

const nameOf = (target: number): string => (target < 0 ? `u${-target}` : String(target))
