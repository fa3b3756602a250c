/** What a conformance suite is run on, and the small words its cases are written in. */

import type { HostSignal } from '../../politeness/contract.ts'
import type { Outcome } from '../../core/outcome.ts'
import type { StoredRequest } from '../../core/request.ts'
import type { Lease, LeaseOptions, Settlement, TaskSettings } from '../../frontier/contract.ts'
import type { Store } from '../../stores/contract.ts'

/** `describe` and `it` of any test runner. */
export interface SuiteRunner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

/** One new, empty, isolated store, and command over its time. */
export interface SuiteSubject {
  readonly store: Store
  /** Lets `ms` pass on the store's clock. */
  advance(ms: number): Promise<void>
  /** Drops the store without closing it, as a crash does, and opens the same data again. Only for durable stores. */
  readonly crash?: () => Promise<Store>
  /** A second process (or what stands for one) on the same data. Only for shared stores. */
  readonly join?: () => Promise<Store>
  dispose(): Promise<void>
}

export type SuiteCase = (subject: SuiteSubject) => Promise<void>
/** Named cases; the name is a sentence, with the number of the contract's invariant where it has one. */
export type SuiteCases = Readonly<Record<string, SuiteCase>>

export interface SuiteOptions {
  readonly runner: SuiteRunner
  readonly open: () => Promise<SuiteSubject>
}

export function runCases({ runner, open }: SuiteOptions, title: string, cases: SuiteCases): void {
  runner.describe(title, () => {
    for (const [name, run] of Object.entries(cases)) {
      runner.it(name, async () => {
        const subject = await open()
        try {
          await run(subject)
        } finally {
          await subject.dispose()
        }
      })
    }
  })
}

export const TASK = 'suite'

/** No delay, many places: time plays no part unless a case wants it to. */
export function settings(fields: Partial<TaskSettings> = {}): TaskSettings {
  return {
    name: TASK,
    order: 'bfs',
    delayMs: 0,
    loopbackDelayMs: 0,
    maxInFlightPerHost: 1000,
    identity: 'suite-1',
    ...fields,
  }
}

/** A request of host h.test, or of the host that the name begins with: `b.test/x`. */
export function request(name: string, fields: Partial<StoredRequest> = {}): StoredRequest {
  const [host = '', ...path] = name.includes('/') ? name.split('/') : ['h.test', name]
  return {
    task: TASK,
    url: `http://${host}/${path.join('/')}`,
    fingerprint: fingerprintOf(name),
    hostKey: host,
    depth: 0,
    priority: 0,
    ...fields,
  }
}

/** Any 16 characters of base64url do, if they are the same for the same name and only then. */
export function fingerprintOf(name: string): string {
  let [a, b] = [0x811c9dc5, 0x9e3779b9]
  for (const character of name) {
    a = Math.imul(a ^ (character.codePointAt(0) ?? 0), 0x01000193)
    b = Math.imul(b ^ a, 0x85ebca6b) ^ (b >>> 13)
  }
  const tail = name
    .replaceAll(/[^\w-]/g, '_')
    .slice(-4)
    .padStart(4, '-')
  return `${hex(a)}${hex(b).slice(0, 4)}${tail}`
}

function hex(n: number): string {
  return (n >>> 0).toString(16).padStart(8, '0')
}

const done: Outcome = { kind: 'done', status: 200, fromCache: false }
export const answered: HostSignal = { kind: 'answered' }

export function settlement(lease: Lease, fields: Partial<Settlement> = {}): Settlement {
  return { lease, outcome: done, discovered: [], items: [], host: answered, ...fields }
}

export function leaseMany(store: Store, fields: Partial<LeaseOptions> = {}): Promise<readonly Lease[]> {
  return store.frontier.lease({ tasks: [TASK], max: 1000, leaseMs: 60_000, ...fields })
}

/** Exactly one; says so when there is none. */
export async function leaseOne(store: Store, fields: Partial<LeaseOptions> = {}): Promise<Lease> {
  const [lease] = await leaseMany(store, { max: 1, ...fields })
  if (lease === undefined) throw new Error('Expected a lease, found nothing to lease')
  return lease
}

const HOSTS = ['h.test', 'b.test', 'x.test', 'y.test', 'busy.test']

/** Lets the suite's hosts answer once: a host that never answered is asked one request at a time. */
async function warmUp({ frontier }: Store): Promise<void> {
  await frontier.openTask(settings({ name: 'warm-up' }))
  await frontier.add(HOSTS.map((host) => request(`${host}/warm`, { task: 'warm-up' })))
  const leases = await frontier.lease({ tasks: ['warm-up'], max: HOSTS.length, leaseMs: 60_000 })
  await frontier.settle(leases.map((lease) => settlement(lease)))
  await frontier.clear('warm-up')
}

/** Opens the suite's task with these settings and adds these requests; its hosts have answered before. */
export async function begin(
  { store }: Pick<SuiteSubject, 'store'>,
  requests: readonly StoredRequest[],
  fields: Partial<TaskSettings> = {},
): Promise<void> {
  await warmUp(store)
  await store.frontier.openTask(settings(fields))
  await store.frontier.add(requests)
}

/** Leases one after the other and settles each as done: the order in which requests come out, by path. */
export async function drain(store: Store, fields: Partial<LeaseOptions> = {}): Promise<string[]> {
  const order: string[] = []
  for (;;) {
    const [lease] = await leaseMany(store, { max: 1, ...fields })
    if (lease === undefined) return order
    order.push(pathOf(lease.url))
    await store.frontier.settle([settlement(lease)])
  }
}

/** Leases everything, in one call. */
export async function paths(store: Store, fields: Partial<LeaseOptions> = {}): Promise<string[]> {
  return (await leaseMany(store, fields)).map((lease) => pathOf(lease.url))
}

function pathOf(url: string): string {
  const { hostname, pathname } = new URL(url)
  return hostname === 'h.test' ? pathname.slice(1) : `${hostname}${pathname}`
}
