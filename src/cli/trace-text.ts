/** `spoor fetch --trace` as text: each hop with its steps and what they took. */

import type { Trace, TraceHop } from '../crawler/contract.ts'
import { formatBytes } from '../util/format.ts'
import { clean, plural } from './text.ts'

type Step = TraceHop['steps'][number]

const LABEL_WIDTH = 9
const WORDS = {
  hit: 'served from the cache',
  stale: 'kept, and asked again',
  miss: 'not there',
  'not-cached': 'not there, and offline nothing is sent',
}

export function traceText({ hops, charset, totalMs }: Trace): string {
  const end = charset === undefined ? [] : [line('charset', `${charset.charset} (${SOURCES[charset.source]})`)]
  return [
    ...hops.flatMap((hop) => [...hopLines(hop), '']),
    ...end,
    line('total', `${plural(hops.length, 'hop')}, ${msOf(totalMs)}`),
  ].join('\n')
}

const SOURCES = {
  bom: 'byte order mark',
  header: 'header',
  meta: 'the document says so',
  detected: 'told by its bytes',
  default: 'nothing says so',
}

function hopLines(hop: TraceHop): string[] {
  const { cache, response, robots, error } = hop
  const open = hop.steps.some(({ kind }) => kind === 'connect')
  return [
    `${hop.purpose === 'page' ? '' : 'robots.txt: '}${hop.method} ${clean(hop.url)}  (at ${msOf(hop.atMs)})`,
    ...(cache === undefined
      ? []
      : [line('cache', `${WORDS[cache.decision]}${cache.keptAt === undefined ? '' : `, of ${cache.keptAt}`}`)]),
    ...(open || hop.steps.length === 0 ? [] : [line('connect', 'over a connection that was open')]),
    ...hop.steps.flatMap(stepLines),
    ...(response === undefined ? [] : responseLines(response)),
    ...(error === undefined ? [] : [line('failed', clean(error))]),
    ...(robots === undefined ? [] : [line('robots', robotsText(robots))]),
  ]
}

function stepLines(step: Step): string[] {
  switch (step.kind) {
    case 'dns':
      return [line('dns', `${clean(step.host)} is ${step.addresses.map(clean).join(', ')}`, step.ms)]
    case 'connect': {
      const proxy = step.proxy === undefined ? '' : ` (proxy ${clean(step.proxy)})`
      return [line('connect', `${clean(step.address)} port ${step.port}${proxy}`, step.ms)]
    }
    case 'tunnel':
      return [line('tunnel', `${clean(step.proxy)} has opened a way to ${clean(step.host)} port ${step.port}`, step.ms)]
    case 'tls':
      return [line('tls', tlsText(step), step.ms)]
    case 'request':
      return [`  > ${step.method} ${clean(step.target)}`, ...step.headers.map((header) => `  > ${headerText(header)}`)]
  }
}

function tlsText({ protocol, cipher, alpn, resumed, verified, certificate }: Step & { readonly kind: 'tls' }): string {
  return [
    `${protocol} ${cipher}${alpn === undefined ? '' : `, ${clean(alpn)}`}`,
    ...(certificate === undefined
      ? []
      : [
          `certificate of ${clean(certificate.subject)} by ${clean(certificate.issuer)} until ${clean(certificate.validTo)}`,
        ]),
    ...(resumed ? ['resumed'] : []),
    ...(verified ? [] : ['not verified']),
  ].join('; ')
}

function responseLines({ status, headers, wireBytes, bytes, timings }: NonNullable<TraceHop['response']>): string[] {
  const size =
    wireBytes === bytes ? formatBytes(bytes) : `${formatBytes(wireBytes)} on the wire, ${formatBytes(bytes)} decoded`
  return [
    `  < ${status}`,
    ...headers.map((header) => `  < ${headerText(header)}`),
    line('body', size),
    ...(timings === undefined
      ? []
      : [line('time', `head after ${msOf(timings.headMs)}, whole after ${msOf(timings.totalMs)}`)]),
  ]
}

const headerText = ([name, value]: readonly [string, string]): string => `${clean(name)}: ${clean(value)}`

/** `allowed (line 3: Allow: /a)`. */
export function robotsText(robots: NonNullable<TraceHop['robots']>): string {
  if ('error' in robots) return clean(robots.error)
  const rule = robots.rule === null ? 'no rule matches' : `line ${robots.line ?? '?'}: ${clean(robots.rule)}`
  return `${robots.allowed ? 'allowed' : 'disallowed'} (${rule})`
}

function line(label: string, text: string, ms?: number): string {
  return `  ${label.padEnd(LABEL_WIDTH)}${text}${ms === undefined ? '' : `  ${msOf(ms)}`}`
}

const msOf = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
