/** Requests and settlements as the flat arguments of a script, and leases and records as its answers. */

import type { JsonObject } from '../../core/json.ts'
import type { Outcome } from '../../core/outcome.ts'
import type { RequestState, StoredRequest } from '../../core/request.ts'
import type { AttemptRecord, Lease, RequestRecord, Settlement } from '../../frontier/contract.ts'
import type { ItemDraft } from '../../items/contract.ts'
import type { HostSignal } from '../../politeness/contract.ts'
import { isLoopbackHost } from '../../util/host-name.ts'
import { SILENT, UNPACED } from './lua/model.ts'

type Extra = Pick<StoredRequest, 'label' | 'userData' | 'method' | 'headers' | 'payload' | 'cache'>

/** Names that the arguments mention by their place. */
interface Index {
  readonly names: string[]
  placeOf(name: string): string
}

function createIndex(): Index {
  const places = new Map<string, string>()
  const names: string[] = []
  return {
    names,
    placeOf: (name) => {
      const known = places.get(name)
      if (known !== undefined) return known
      names.push(name)
      const place = String(names.length)
      places.set(name, place)
      return place
    },
  }
}

function listOf(values: readonly string[]): string[] {
  return [String(values.length), ...values]
}

function hostsOf({ names }: Index): string[] {
  return [String(names.length), ...names.flatMap((key) => [key, isLoopbackHost(key) ? '1' : ''])]
}

export function encodeAdd(requests: readonly StoredRequest[]): string[] {
  const tasks = createIndex()
  const hosts = createIndex()
  const body: string[] = []
  const { depth = 0, priority = 0 } = requests[0] ?? {}
  const usual = { hosts, depth, priority }
  for (const request of requests) {
    body.push(tasks.placeOf(request.task))
    pushRequest(body, request, usual)
  }
  const header = [...listOf(tasks.names), ...hostsOf(hosts), String(depth), String(priority)]
  return [...header, String(requests.length), ...body]
}

/** What most requests of one call have in common: only what differs is sent. */
interface Usual {
  readonly hosts: Index
  readonly depth: number
  readonly priority: number
}

function pushRequest(into: string[], request: StoredRequest, usual: Usual): void {
  const { fingerprint, url, hostKey, depth, priority, skip = '' } = request
  const extra = extraOf(request)
  const host = usual.hosts.placeOf(hostKey)
  const isUsual = depth === usual.depth && priority === usual.priority && skip === '' && extra === ''
  if (isUsual) into.push(fingerprint, url, host)
  else into.push(fingerprint, url, `+${host}`, String(depth), String(priority), skip, extra)
}

/** What few requests have, as JSON; most have none of it. */
function extraOf({ label, userData, method, headers, payload, cache }: StoredRequest): string {
  if (label === undefined && userData === undefined && method === undefined) {
    if (headers === undefined && payload === undefined && cache === undefined) return ''
  }
  return JSON.stringify({ label, userData, method, headers, payload, cache } satisfies JsonObject)
}

export function encodeSettlements(settlements: readonly Settlement[], randoms: readonly number[]): string[] {
  const tasks = createIndex()
  const hosts = createIndex()
  const body: string[] = []
  for (const settlement of settlements) {
    const { lease, outcome, host, counts = {}, items, discovered, knownLinks = [] } = settlement
    body.push(tasks.placeOf(lease.request.task), lease.request.fingerprint, lease.token, String(lease.request.depth))
    body.push(...outcomeOf(outcome, hosts), host.kind, valueOf(host))
    const counted = Object.entries(counts)
    body.push(String(counted.length), ...counted.flatMap(([name, by]) => [name, String(by)]))
    body.push(String(items.length), ...items.flatMap(itemParts))
    body.push(String(discovered.length))
    const usual = { hosts, depth: lease.request.depth + 1, priority: 0 }
    for (const request of discovered) pushRequest(body, request, usual)
    body.push(knownLinks.filter((fingerprint) => fingerprint.length === FINGERPRINT_LENGTH).join(''))
  }
  const header = [...listOf(tasks.names), ...hostsOf(hosts), ...listOf(randoms.map(String))]
  return [...header, String(settlements.length), ...body]
}

/** Links are kept as one string of fingerprints, which all have this length. */
const FINGERPRINT_LENGTH = 16

function outcomeOf(outcome: Outcome, hosts: Index): string[] {
  switch (outcome.kind) {
    case 'done':
      return ['done', String(outcome.status)]
    case 'skipped':
      return ['skipped', outcome.reason]
    case 'redirected': {
      const { url, fingerprint, hostKey, hop } = outcome.to
      return ['redirected', url, fingerprint, hosts.placeOf(hostKey), hop]
    }
    case 'retry':
    case 'failed': {
      const { attempt, kind } = outcome
      const when = kind === 'retry' ? [String(outcome.retryInMs), outcome.charged ? '1' : ''] : ['0', '1']
      return [kind, attempt.failure, String(attempt.status ?? ''), JSON.stringify(attempt), ...when]
    }
    case 'released':
      return ['released']
  }
}

function valueOf(signal: HostSignal): string {
  switch (signal.kind) {
    case 'answered':
      return String(signal.crawlDelayMs ?? '')
    case 'throttled':
      return String(signal.retryAfterMs ?? '')
    case 'hold':
      return String(signal.holdMs)
    default:
      return ''
  }
}

/** A page's own record is cut around its depth, which the server puts in: [what is before, what is behind]. */
export function itemParts({ data, isPage }: ItemDraft): [string, string] {
  if (isPage !== true) return [JSON.stringify(data), '']
  let before = '{'
  let behind: string | undefined
  let comma = ''
  for (const [key, value] of Object.entries({ ...data, depth: 0 })) {
    if (key === 'depth') {
      before += `${comma}"depth":`
      behind = ''
    } else {
      const text = value === undefined ? undefined : `${comma}${JSON.stringify(key)}:${JSON.stringify(value)}`
      if (text === undefined) continue
      if (behind === undefined) before += text
      else behind += text
    }
    comma = ','
  }
  return [before, `${behind ?? ''}}`]
}

export function decodeLease(answer: unknown): Lease {
  const [task, fp, id, url, host, depth, priority, extra, ...rest] = answer as string[]
  const [hopUrl, hostKey, hops, attempt, token, leasedAt, expiresAt, down, mode] = rest as unknown[]
  return {
    id: String(id),
    request: requestOf({ task, fp, url, host, depth, priority, extra }),
    url: hopUrl === '' ? String(url) : String(hopUrl),
    hostKey: String(hostKey),
    hops: hops as string[],
    attempt: Number(attempt),
    token: String(token),
    leasedAtMs: Number(leasedAt),
    expiresAtMs: Number(expiresAt),
    hostDown: Number(down) === 1,
    ...(Number(mode) === UNPACED ? { unpaced: true } : {}),
    ...(Number(mode) === SILENT ? { silent: true } : {}),
  }
}

function requestOf(fields: Readonly<Record<string, string | undefined>>): StoredRequest {
  const { task = '', fp = '', url = '', host = '', depth, priority, extra = '' } = fields
  const own = { task, url, fingerprint: fp, hostKey: host, depth: Number(depth), priority: Number(priority) }
  return extra === '' ? own : { ...own, ...(JSON.parse(extra) as Extra) }
}

export function decodeRecord(task: string, answer: unknown): RequestRecord {
  const [id = '', fp, url, host, depth, priority, extra, state, ...rest] = answer as string[]
  const [reason = '', status = '', finalUrl = '', parentUrl = '', aliasOf = '', attempts] = rest
  return {
    id,
    request: requestOf({ task, fp, url, host, depth, priority, extra }),
    state: state as RequestState,
    ...(reason === '' ? {} : { reason }),
    ...(status === '' ? {} : { status: Number(status) }),
    ...(finalUrl === '' ? {} : { finalUrl }),
    ...(parentUrl === '' ? {} : { parentUrl }),
    ...(aliasOf === '' ? {} : { aliasOf }),
    attempts: pairsOf(attempts).map(([json, at]) => {
      const attempt = JSON.parse(json) as Omit<AttemptRecord, 'at'>
      return { ...attempt, at: new Date(Number(at)).toISOString() }
    }),
  }
}

/** A flat answer of keys and values, in pairs. */
export function pairsOf(answer: unknown): [string, string][] {
  const flat = answer as readonly string[]
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([String(flat[at]), String(flat[at + 1])])
  return pairs
}
