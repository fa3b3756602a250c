/** What is known of one crawl, for people who ask while it runs or after. */

import { fingerprintOf, parseHttpUrl } from '../url/canonical.ts'
import { createIdentity, type IdentityRule } from '../url/identity.ts'
import type { RequestFilter, RequestRecord } from '../frontier/contract.ts'
import { exportAll } from '../items/export.ts'
import type { Store } from '../stores/contract.ts'
import type {
  CrawlGraph,
  CrawlReader,
  CrawlStatus,
  ExportTarget,
  FailureEntry,
  FailureFilter,
  FailurePage,
  HostPage,
  HostQuery,
  PageRequest,
  StoreLocation,
  WhyAnswer,
} from './contract.ts'
import { openCrawlGraph } from './crawl-graph.ts'
import { readRecrawl } from './recrawl-report.ts'
import { systemClock } from '../core/clock.ts'
import { createHostList } from './host-list.ts'
import { createLatestItems } from './latest-items.ts'
import { identityKeyOf } from './task-keys.ts'
import { readWorkers } from './worker-report.ts'
import { cacheProblems } from './cache-access.ts'
import { openItemDatabase, openStoreForReading, openStoreForWriting } from './compose.ts'

const PAGE = 500
/** Characters that are kept of a link that is too long: see `PageScan.tooLong`. */
const TOO_LONG_HEAD = 200

/** Rejects with STORE_UNAVAILABLE when there is no crawl. */
export async function openForReading(location: StoreLocation): Promise<CrawlReader> {
  const store = await openStoreForReading(location)
  return new StoreReader({
    store,
    location,
    close: () => store.close(),
    requeue: async (filter) => {
      // reading needs no right to write; this does
      const writing = await openStoreForWriting(location)
      try {
        return await writing.frontier.requeue(filter)
      } finally {
        await writing.close()
      }
    },
  })
}

interface ReaderParts {
  readonly store: Store
  readonly location: StoreLocation
  readonly requeue: (filter: RequestFilter) => Promise<number>
  readonly close: () => Promise<void>
}

/** Over a store that somebody has open. */
export function createReader(parts: ReaderParts): CrawlReader {
  return new StoreReader(parts)
}

class StoreReader implements CrawlReader {
  readonly #store: Store
  readonly #location: StoreLocation

  readonly #parts: ReaderParts
  #hosts: ReturnType<typeof createHostList> | undefined
  #latest: ReturnType<typeof createLatestItems> | undefined

  constructor(parts: ReaderParts) {
    this.#store = parts.store
    this.#location = parts.location
    this.#parts = parts
  }

  tasks(): Promise<readonly string[]> {
    return this.#store.tasks()
  }

  async status(): Promise<CrawlStatus> {
    const { frontier } = this.#store
    const { task } = this.#location
    const stats = await frontier.stats(task)
    const recrawl = await readRecrawl(this.#store, task, stats)
    return {
      task,
      pending: stats.pending,
      leased: stats.leased,
      done: stats.done,
      failed: stats.failed,
      skipped: stats.skipped as Readonly<Record<string, number>>,
      hosts: stats.hosts,
      workers: await readWorkers(this.#store),
      counters: stats.counters,
      items: stats.items,
      ...(recrawl === undefined ? {} : { recrawl }),
      levels: await frontier.levels(task),
    }
  }

  async *failures(filter: FailureFilter): AsyncGenerator<FailureEntry> {
    for await (const record of this.#records(this.#failed(filter))) yield failureOf(record)
  }

  async failurePage(filter: FailureFilter, page: PageRequest): Promise<FailurePage> {
    const { records, next } = await this.#store.frontier.list(this.#failed(filter), page)
    return {
      failures: records.map((record) => ({ id: record.id, ...failureOf(record) })),
      ...(next === undefined ? {} : { next }),
    }
  }

  async #find(canonical: string): Promise<RequestRecord | undefined> {
    const { task } = this.#location
    const rules = JSON.parse((await this.#store.state.get(identityKeyOf(task))) ?? '[]') as readonly IdentityRule[]
    return this.#store.frontier.get(task, fingerprintOf(createIdentity(rules).identityOf(canonical)))
  }

  /** Of a link that was too long only its beginning is kept. */
  async #findHead(url: string): Promise<RequestRecord | undefined> {
    if (url.length <= TOO_LONG_HEAD) return undefined
    const head = parseHttpUrl(url.slice(0, TOO_LONG_HEAD))
    const record = head.ok ? await this.#find(head.canonical) : undefined
    return record?.reason === 'url-too-long' ? record : undefined
  }

  async why(url: string): Promise<WhyAnswer> {
    const parsed = parseHttpUrl(url, { maxUrlBytes: Number.POSITIVE_INFINITY })
    if (!parsed.ok) return unknown(url, url, parsed.problem)
    const record = (await this.#find(parsed.canonical)) ?? (await this.#findHead(parsed.url))
    if (record === undefined) return unknown(parsed.url, parsed.canonical, 'the crawl has not met this URL')
    return {
      url: record.request.url,
      canonical: parsed.canonical,
      state: record.state,
      reason: record.reason ?? null,
      depth: record.request.depth,
      parent: record.parentUrl ?? null,
      attempts: record.attempts.map(({ at, error, failure, status }) => ({
        at,
        error: `${failure}: ${error}`,
        status: status ?? null,
      })),
      ...ruleOf(record),
      ...(record.aliasOf === undefined ? {} : { aliasOf: record.aliasOf }),
      ...(record.finalUrl === undefined ? {} : { finalUrl: record.finalUrl }),
      ...(record.status === undefined ? {} : { status: record.status }),
    }
  }

  async *items(): AsyncGenerator<string> {
    const { task } = this.#location
    let after = 0
    for (;;) {
      const items = await this.#store.items.read(task, after, PAGE)
      for (const { json } of items) yield json
      const last = items.at(-1)
      if (last === undefined) return
      after = last.seq
    }
  }

  async verify(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }> {
    const { dir, store } = this.#location
    const problems = [...(await this.#store.verify()), ...(store === undefined ? await cacheProblems(dir) : [])]
    return { ok: problems.length === 0, problems }
  }

  retryFailures(filter: FailureFilter): Promise<number> {
    return this.#parts.requeue(this.#failed(filter))
  }

  graph(): Promise<CrawlGraph> {
    return openCrawlGraph(this.#store, this.#location.task)
  }

  exportTo(target: ExportTarget): Promise<number> {
    return exportAll({ ...target, openDatabase: openItemDatabase, task: this.#location.task, items: this.#store.items })
  }

  async close(): Promise<void> {
    await this.#parts.close()
  }

  hosts(query: HostQuery): Promise<HostPage> {
    this.#hosts ??= createHostList(this.#store.frontier, this.#location.task, systemClock)
    return this.#hosts(query)
  }

  latestItems(max: number): Promise<readonly string[]> {
    this.#latest ??= createLatestItems(this.#store.items, this.#location.task)
    return this.#latest(max)
  }

  #failed({ status, host, reason, ids }: FailureFilter): RequestFilter {
    return {
      task: this.#location.task,
      state: 'failed',
      ...(status === undefined ? {} : { status }),
      ...(reason === undefined ? {} : { reason }),
      ...(ids === undefined ? {} : { ids }),
      ...(host === undefined ? {} : { hostKey: host }),
    }
  }

  async *#records(filter: RequestFilter): AsyncGenerator<RequestRecord> {
    let after: string | undefined
    for (;;) {
      const page = await this.#store.frontier.list(filter, { max: PAGE, ...(after === undefined ? {} : { after }) })
      yield* page.records
      if (page.next === undefined) return
      after = page.next
    }
  }
}

function failureOf({ request, reason, status, attempts }: RequestRecord): FailureEntry {
  return {
    url: request.url,
    reason: reason ?? 'unknown',
    status: status ?? null,
    attempts: attempts.map(({ at, error, failure, status: answered }) => ({
      at,
      error: error.startsWith(failure) ? error : `${failure}: ${error}`,
      status: answered ?? null,
    })),
  }
}

function unknown(url: string, canonical: string, reason: string): WhyAnswer {
  return { url, canonical, state: 'unknown', reason, depth: null, parent: null, attempts: [] }
}

/** Of a trap: the rule that fired. */
function ruleOf({ reason, request }: RequestRecord): { readonly rule?: string } {
  const rule = request.userData?.['trapRule']
  return reason === 'trap' && typeof rule === 'string' ? { rule } : {}
}
