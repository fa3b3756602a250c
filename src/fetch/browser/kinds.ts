/** What Chromium says a request is for, as the kinds that people choose from. */

import type { ResourceKind } from '../contract.ts'
import type { Paused } from './sub-request.ts'

/** The rest (sockets, event streams, pings, manifests, reports, prefetches) is never loaded. */
const KINDS: Readonly<Record<string, ResourceKind>> = {
  Image: 'image',
  Font: 'font',
  Media: 'media',
  TextTrack: 'media',
  Stylesheet: 'stylesheet',
  Script: 'script',
  XHR: 'data',
  Fetch: 'data',
  Preflight: 'data',
}

export function kindOf({ resourceType, request }: Paused): ResourceKind | undefined {
  // an event stream has no end, and no type of its own
  return isEventStream(request.headers) ? undefined : KINDS[resourceType]
}

function isEventStream(headers: Paused['request']['headers']): boolean {
  return /^text\/event-stream\b/i.test(headers['Accept'] ?? headers['accept'] ?? '')
}

/** What a page may send without a person who acts. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

export function mayBeSent(method: string): boolean {
  return METHODS.has(method)
}
