/** What the two ends of a served store say to each other: flat lists, because a structured clone pays for every key. */

import { CrawlError, type ErrorCode, errorCodes, isCrawlError } from '../../../core/errors.ts'
import type { StoredRequest } from '../../../core/request.ts'
import type { Lease, Settlement } from '../../../frontier/contract.ts'
import type { LinkKind, PageLinks } from '../../../graph/contract.ts'
import type { ItemDraft } from '../../../items/contract.ts'

/** `id` 0: no answer is wanted. */
export type Call = readonly [id: number, method: string, ...args: unknown[]]

/** With a third part the call was rejected. `id` 0: what others have added, not asked for. */
export type Answer = readonly [id: number, value: unknown, fault?: Fault]

interface Fault {
  /** Of a CrawlError. */
  readonly code?: string
  readonly context?: Readonly<Record<string, string | number | boolean>>
  readonly message: string
  readonly stack?: string | undefined
}

export type RequestPart = readonly [
  task: string,
  url: string,
  fingerprint: string,
  hostKey: string,
  depth: number,
  priority: number,
  /** What few requests have. */
  rest?: Partial<StoredRequest>,
]

export type LeasePart = readonly [
  id: string,
  token: string,
  request: RequestPart,
  url: string,
  hostKey: string,
  hops: readonly string[],
  attempt: number,
  leasedAtMs: number,
  expiresAtMs: number,
  /** Sums of the powers of two below. */
  marks: number,
  visit: Lease['visit'],
]

/** Names a lease that the server has given and remembers. */
export type LeaseName = readonly [id: string, token: string]

/** `depth`: the one that is written in the line. */
type ItemPart = readonly [json: string, isPage: boolean, depth: number]

export type SettlementPart = readonly [
  ...lease: LeaseName,
  outcome: Settlement['outcome'],
  discovered: readonly RequestPart[],
  items: readonly ItemPart[],
  host: Settlement['host'],
  counts: Settlement['counts'],
  knownLinks: Settlement['knownLinks'],
  visit: Settlement['visit'],
  links?: LinksPart,
]

/** Only with --graph. */
type LinksPart = readonly [facts: Omit<PageLinks, 'links'>, ...links: readonly LinkPart[]]

type LinkPart = readonly [url: string, fingerprint: string, hostKey: string, kind: LinkKind, rel: string, text: string]

export function packRequest(request: StoredRequest): RequestPart {
  const { task, url, fingerprint, hostKey, depth, priority, ...rest } = request
  for (const _ in rest) return [task, url, fingerprint, hostKey, depth, priority, rest]
  return [task, url, fingerprint, hostKey, depth, priority]
}

export function unpackRequest([task, url, fingerprint, hostKey, depth, priority, rest]: RequestPart): StoredRequest {
  const request = { task, url, fingerprint, hostKey, depth, priority }
  return rest === undefined ? request : { ...request, ...rest }
}

const [DOWN, UNPACED, SILENT] = [1, 2, 4]

export function packLease(lease: Lease): LeasePart {
  const { id, token, request, url, hostKey, hops, attempt, leasedAtMs, expiresAtMs, visit } = lease
  const { hostDown, unpaced = false, silent = false } = lease
  const marks = (hostDown ? DOWN : 0) | (unpaced ? UNPACED : 0) | (silent ? SILENT : 0)
  return [id, token, packRequest(request), url, hostKey, hops, attempt, leasedAtMs, expiresAtMs, marks, visit]
}

export function unpackLease(part: LeasePart): Lease {
  const [id, token, request, url, hostKey, hops, attempt, leasedAtMs, expiresAtMs, marks, visit] = part
  return {
    id,
    token,
    request: unpackRequest(request),
    url,
    hostKey,
    hops,
    attempt,
    leasedAtMs,
    expiresAtMs,
    hostDown: (marks & DOWN) !== 0,
    ...((marks & UNPACED) === 0 ? {} : { unpaced: true }),
    ...((marks & SILENT) === 0 ? {} : { silent: true }),
    ...(visit === undefined ? {} : { visit }),
  }
}

export const nameOf = ({ id, token }: Lease): LeaseName => [id, token]

export function packSettlement(settlement: Settlement): SettlementPart {
  const { lease, outcome, discovered, items, host, counts, knownLinks, visit, links } = settlement
  const { id, token } = lease
  const requests = discovered.map(packRequest)
  if (links === undefined) return [id, token, outcome, requests, items.map(packItem), host, counts, knownLinks, visit]
  return [id, token, outcome, requests, items.map(packItem), host, counts, knownLinks, visit, packLinks(links)]
}

function packLinks({ links, ...facts }: PageLinks): LinksPart {
  return [
    facts,
    ...links.map((link): LinkPart => [link.url, link.fingerprint, link.hostKey, link.kind, link.rel, link.text]),
  ]
}

function unpackLinks([facts, ...links]: LinksPart): PageLinks {
  return {
    ...facts,
    links: links.map(([url, fingerprint, hostKey, kind, rel, text]) => ({
      url,
      fingerprint,
      hostKey,
      kind,
      rel,
      text,
    })),
  }
}

export function unpackSettlement(part: SettlementPart, lease: Lease): Settlement {
  const [, , outcome, discovered, items, host, counts, knownLinks, visit, links] = part
  return {
    lease,
    outcome,
    discovered: discovered.map(unpackRequest),
    items: items.map(([json, isPage, depth]) => new WrittenItem(json, isPage, depth)),
    host,
    ...(counts === undefined ? {} : { counts }),
    ...(knownLinks === undefined ? {} : { knownLinks }),
    ...(visit === undefined ? {} : { visit }),
    ...(links === undefined ? {} : { links: unpackLinks(links) }),
  }
}

function packItem({ data, isPage = false }: ItemDraft): ItemPart {
  const { depth } = data
  return [JSON.stringify(data), isPage, typeof depth === 'number' ? depth : -1]
}

/** An item that came as its line. */
class WrittenItem implements ItemDraft {
  readonly written: { readonly json: string; readonly depth: number }
  readonly isPage: boolean

  constructor(json: string, isPage: boolean, depth: number) {
    this.written = { json, depth }
    this.isPage = isPage
  }

  get data(): ItemDraft['data'] {
    return JSON.parse(this.written.json) as ItemDraft['data']
  }
}

export function packFault(error: unknown): Fault {
  if (isCrawlError(error)) return { code: error.code, context: error.context, message: error.message }
  if (error instanceof Error) return { message: error.message, stack: error.stack }
  return { message: String(error) }
}

export function unpackFault({ code, context = {}, message, stack }: Fault): Error {
  const known = errorCodes.find((candidate): candidate is ErrorCode => candidate === code)
  if (known !== undefined) return new CrawlError(known, { context })
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}
