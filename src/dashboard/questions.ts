/** The questions of the page, each answered from the store with a bound on what it reads. */

import { CrawlError } from '../core/errors.ts'
import type { CrawlReader, FailureFilter, HostSort } from '../crawler/contract.ts'
import type { Feed } from './feed.ts'
import type { DashboardSource } from './source.ts'
import type { OpenTask } from './tasks.ts'
import type { FailureList, Hello, HostList, ItemList, Why } from './wire.ts'

const MAX_PAGE = 200
const ITEMS = 50
/** Of one that is shown; an item may be a whole page. */
const MAX_ITEM_CHARS = 8000
const MAX_QUERY = 10_000

export type Question = (task: OpenTask, query: URLSearchParams) => Promise<unknown>

export const QUESTIONS: ReadonlyMap<string, Question> = new Map<string, Question>([
  ['/api/hosts', ({ reader }, query) => hosts(reader, query)],
  ['/api/failures', ({ reader }, query) => failures(reader, query)],
  ['/api/why', ({ reader }, query) => why(reader, query)],
  ['/api/items', ({ reader }) => items(reader)],
])

export interface HelloParts {
  readonly source: DashboardSource
  readonly feed: Feed
  readonly version: string
  readonly key: string
}

export async function hello({ source, feed, version, key }: HelloParts, task: string, open: OpenTask): Promise<Hello> {
  const elsewhere = 'The crawl runs in other processes, or not at all: this works on the dashboard of a running crawl'
  const { run } = source
  return {
    version,
    place: source.place,
    task,
    tasks: await open.reader.tasks(),
    key,
    cannot: { control: run === undefined ? elsewhere : null, log: run === undefined ? elsewhere : null },
    history: open.watch.history(),
    log: feed.lines(),
  }
}

/** Throws CONFIG_INVALID for what is no filter. */
export function failureFilterOf(query: URLSearchParams): FailureFilter {
  const status = query.get('status') ?? ''
  if (status !== '' && !/^[1-9]\d\d$/.test(status)) throw invalid('status', 'an HTTP status', status)
  const [host, reason] = ['host', 'reason'].map((name) => query.get(name)?.trim().toLowerCase() ?? '')
  return {
    ...(status === '' ? {} : { status: Number(status) }),
    ...(host === undefined || host === '' ? {} : { host }),
    ...(reason === undefined || reason === '' ? {} : { reason }),
  }
}

const SORTS: readonly HostSort[] = ['waiting', 'next', 'trouble', 'name']
const MAX_FROM = 1_000_000

async function hosts(reader: CrawlReader, query: URLSearchParams): Promise<HostList> {
  const asked = query.get('sort') ?? 'waiting'
  const sort = SORTS.find((one) => one === asked)
  if (sort === undefined) throw invalid('sort', SORTS.join(', '), asked)
  const from = Number(query.get('from') ?? 0)
  if (!Number.isInteger(from) || from < 0 || from > MAX_FROM) throw invalid('from', `0 to ${MAX_FROM}`, String(from))
  const contains = (query.get('contains') ?? '').trim().toLowerCase().slice(0, 255)
  return reader.hosts({ sort, from, max: maxOf(query), ...(contains === '' ? {} : { contains }) })
}

async function failures(reader: CrawlReader, query: URLSearchParams): Promise<FailureList> {
  const after = query.get('after') ?? ''
  return reader.failurePage(failureFilterOf(query), { max: maxOf(query), ...(after === '' ? {} : { after }) })
}

async function why(reader: CrawlReader, query: URLSearchParams): Promise<Why> {
  const url = query.get('url')?.trim() ?? ''
  if (url === '' || url.length > MAX_QUERY) throw invalid('url', `a URL of at most ${MAX_QUERY} characters`, url)
  return reader.why(url)
}

async function items(reader: CrawlReader): Promise<ItemList> {
  const lines = await reader.latestItems(ITEMS)
  return { items: lines.map((line) => (line.length <= MAX_ITEM_CHARS ? line : `${line.slice(0, MAX_ITEM_CHARS)}…`)) }
}

function maxOf(query: URLSearchParams): number {
  const max = Number(query.get('max') ?? 50)
  if (!Number.isInteger(max) || max < 1 || max > MAX_PAGE)
    throw invalid('max', `1 to ${MAX_PAGE}`, query.get('max') ?? '')
  return max
}

export function invalid(name: string, expected: string, found: string): CrawlError {
  const problem = `${name}: expected ${expected}, found ${JSON.stringify(found.slice(0, 100))}`
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
