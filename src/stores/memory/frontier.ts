/** The frontier in memory: the executable specification that every other store is compared with. */

import { CrawlError } from '../../core/errors.ts'
import type { Frontier, FrontierStats, RequestFilter, RequestRecord, TaskSettings } from '../../frontier/contract.ts'
import { decideDepthChange } from '../../frontier/decide-add.ts'
import { waitForWork } from '../../frontier/wait-for-work.ts'
import { hostReport } from '../../politeness/host-state.ts'
import { addRequest, revive, rootOf } from './known.ts'
import { leaseNext, look, moveNextTime, renew } from './lease.ts'
import { change, createTask, endLease, limitsOf, place, taskOf, unplace } from './model.ts'
import type { Model, Row, Task } from './model.ts'
import { settleOne } from './settle.ts'

export function createMemoryFrontier(model: Model): Frontier {
  const changed = <T>(answer: T): T => {
    model.bell.ring()
    return answer
  }
  return {
    capabilities: { durable: false, shared: false, transactional: true, unpaced: true, visits: true },
    openTask: async (settings) => changed(openTask(model, settings)),
    add: async (requests) =>
      changed(requests.map((request) => addRequest(model, request, { task: taskOf(model, request.task) }))),
    lease: async (options) => changed(leaseNext(model, options)),
    renew: async (leases, leaseMs) => leases.map((held) => renew(model, held, leaseMs)),
    started: async (leases) => {
      for (const held of leases) moveNextTime(model, held)
    },
    settle: async (settlements) => changed(settlements.map((settlement) => settleOne(model, settlement))),
    waitForWork: (options, signal) => waitForWork({ look: () => look(model, options), bell: model.bell }, signal),
    stats: async (name) => statsOf(taskOf(model, name)),
    levels: async (name) =>
      [...taskOf(model, name).levels.values()]
        .filter((level) => level.pending + level.leased + level.done + level.failed + level.skipped > 0)
        .map((level) => ({ ...level }))
        .toSorted((a, b) => a.depth - b.depth),
    hosts: async (name, page) => hostsOf(model, taskOf(model, name), page),
    workers: async () => [],
    get: async (name, fingerprint) => {
      const row = taskOf(model, name).rows.get(fingerprint)
      return row === undefined ? undefined : recordOf(row)
    },
    list: async (filter, { after, max }) => {
      const rows = matching(model, filter).filter((row) => row.id > Number(after ?? 0))
      const records = rows.slice(0, max).map(recordOf)
      const last = records.at(-1)
      return rows.length > max && last !== undefined ? { records, next: last.id } : { records }
    },
    requeue: async (filter) => changed(requeue(model, filter)),
    clear: async (name) => changed(clear(model, name)),
  }
}

function hostsOf(
  model: Model,
  task: Task,
  { after, max }: { readonly after?: string; readonly max: number },
): Awaited<ReturnType<Frontier['hosts']>> {
  const nowMs = model.clock.monotonicMs()
  const queues = [...task.queues.values()]
    .filter(({ opened, id }) => opened && id > Number(after ?? 0))
    .toSorted((a, b) => a.id - b.id)
  const page = queues.slice(0, max)
  const ready = new Map<string, number>()
  for (const { entry, hop, request } of task.rows.values()) {
    const key = hop?.hostKey ?? request.hostKey
    if (entry !== undefined) ready.set(key, (ready.get(key) ?? 0) + 1)
  }
  const hosts = page.map(({ host: { key, state } }) => ({
    hostKey: key,
    ready: ready.get(key) ?? 0,
    ...hostReport(state, limitsOf(task, key), nowMs),
  }))
  const last = page.at(-1)
  return queues.length > max && last !== undefined ? { hosts, next: String(last.id) } : { hosts }
}

function openTask(model: Model, settings: TaskSettings): void {
  const task = model.tasks.get(settings.name)
  if (task === undefined) {
    model.tasks.set(settings.name, createTask(settings))
    return
  }
  if (task.settings.identity !== settings.identity) {
    const context = { location: 'memory', what: 'rules of identity', expected: settings.identity }
    throw new CrawlError('STORE_RULES_CHANGED', { context: { ...context, found: task.settings.identity } })
  }
  const { reviveUpTo = -1, refuseBeyond = Infinity } = decideDepthChange(task.settings.maxDepth, settings.maxDepth)
  task.settings = settings
  for (const row of task.rows.values()) {
    const { depth } = row.request
    if (row.state === 'skipped' && row.reason === 'depth' && depth <= reviveUpTo) revive(model, row)
    else if (row.state === 'pending' && depth > refuseBeyond) refuse(model, row)
    else if (row.entry !== undefined) place(model, row)
  }
}

function refuse(model: Model, row: Row): void {
  unplace(model, row)
  change(row, { state: 'skipped', reason: 'depth' })
}

function requeue(model: Model, filter: RequestFilter): number {
  const { maxDepth = Infinity } = taskOf(model, filter.task).settings
  const rows = matching(model, filter).filter(
    (row) =>
      row.aliasOf === undefined &&
      (row.state === 'done' || row.state === 'failed' || (row.state === 'skipped' && filter.state === 'skipped')) &&
      row.request.depth <= maxDepth,
  )
  for (const row of rows) revive(model, row)
  return rows.length
}

function clear(model: Model, name: string): void {
  const task = model.tasks.get(name)
  if (task === undefined) return
  for (const row of task.rows.values()) {
    endLease(model, row, { kind: 'troubled' })
    unplace(model, row)
  }
  model.tasks.delete(name)
}

function statsOf(task: Task): FrontierStats {
  const { pending, leased, done, failed } = task.counts
  return {
    known: task.rows.size,
    pending,
    leased,
    done,
    failed,
    skipped: Object.fromEntries([...task.skipped].filter(([, n]) => n > 0)),
    hosts: [...task.queues.values()].filter((queue) => queue.opened).length,
    items: task.items.length,
    counters: { ...task.counters },
  }
}

function matching(model: Model, filter: RequestFilter): Row[] {
  const ids = filter.ids === undefined ? undefined : new Set(filter.ids)
  const rows = [...taskOf(model, filter.task).rows.values()]
  const named = ids === undefined ? rows : rows.filter((row) => ids.has(String(row.id)))
  return named.filter(
    (row) =>
      (filter.state ?? row.state) === row.state &&
      (filter.reason ?? row.reason) === row.reason &&
      (filter.status ?? row.status) === row.status &&
      (filter.hostKey ?? row.request.hostKey) === row.request.hostKey &&
      (filter.depth ?? row.request.depth) === row.request.depth,
  )
}

function recordOf(row: Row): RequestRecord {
  return {
    id: String(row.id),
    request: row.request,
    state: row.state,
    ...(row.reason === undefined ? {} : { reason: row.reason }),
    ...(row.status === undefined ? {} : { status: row.status }),
    ...(row.hop === undefined ? {} : { finalUrl: row.hop.url }),
    ...(row.parent === undefined ? {} : { parentUrl: row.parent.request.url }),
    ...(row.aliasOf === undefined ? {} : { aliasOf: rootOf(row).request.url }),
    attempts: [...row.attempts],
    ...(row.visit === undefined ? {} : { visit: row.visit }),
  }
}
