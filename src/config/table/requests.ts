/** Options of the requests that are sent. */

import { count, duration, list, size, text, toggle } from '../option-row.ts'
import { parseConnectTo, parseCookie, parseHeader, parseProxy } from '../parse.ts'
import { CRAWL, HTTP } from './commands.ts'

const DAY_MS = 86_400_000
const MB = 1_048_576

export const REQUESTS = {
  userAgent: text({
    flag: 'user-agent',
    placeholder: 'UA',
    default: undefined,
    defaultText: 'spoor/VERSION and where to read about it',
    group: 'Requests',
    on: HTTP,
    doc: 'The User-Agent that servers see.',
  }),
  randomUserAgent: toggle({
    flag: 'random-user-agent',
    default: false,
    group: 'Requests',
    on: HTTP,
    doc: 'Draw the User-Agent from current browsers instead.',
  }),
  headers: list({
    flag: 'header',
    placeholder: "'K: V'",
    parse: parseHeader,
    group: 'Requests',
    on: HTTP,
    doc: 'Send this header. Authorization and Cookie go to the hosts of the URLs you give only.',
  }),
  cookies: list({
    flag: 'cookie',
    placeholder: "'K=V'",
    parse: parseCookie,
    group: 'Requests',
    on: HTTP,
    doc: 'Send this cookie to the hosts of the URLs you give.',
  }),
  keepCookies: toggle({
    flag: 'cookies',
    default: true,
    group: 'Requests',
    on: HTTP,
    doc: 'Do not keep the cookies that servers set.',
  }),
  proxies: list({
    flag: 'proxy',
    placeholder: 'URL',
    parse: parseProxy,
    group: 'Requests',
    on: HTTP,
    doc: 'Go through this proxy (http, https or socks5, user:password allowed); several take turns.',
  }),
  connectTo: list({
    flag: 'connect-to',
    placeholder: 'H1:P1:H2:P2',
    parse: parseConnectTo,
    group: 'Requests',
    on: HTTP,
    doc: 'Connect to H2:P2 for H1:P1, as in curl; an empty H1 or P1 matches any.',
  }),
  timeoutMs: duration({
    flag: 'timeout',
    default: 30_000,
    min: 1,
    max: 30 * DAY_MS,
    group: 'Requests',
    on: HTTP,
    doc: 'Time for a whole request.',
  }),
  connectTimeoutMs: duration({
    flag: 'connect-timeout',
    default: 10_000,
    min: 1,
    max: 30 * DAY_MS,
    group: 'Requests',
    on: HTTP,
    doc: 'Time to get a connection, TLS included.',
  }),
  idleTimeoutMs: duration({
    flag: 'idle-timeout',
    default: undefined,
    defaultText: 'as long as --timeout',
    min: 1,
    max: 30 * DAY_MS,
    group: 'Requests',
    on: HTTP,
    doc: 'Time without a byte of the answer.',
  }),
  retries: count({
    flag: 'retries',
    default: 2,
    max: 1_000,
    group: 'Requests',
    on: HTTP,
    doc: 'Further tries after the first, with growing pauses; Retry-After is obeyed.',
  }),
  maxBodyBytes: size({
    flag: 'max-body',
    default: 32 * MB,
    min: 1,
    max: 4_096 * MB,
    group: 'Requests',
    on: HTTP,
    doc: 'A body that is longer after decompression is a failure too-large, never cut in silence.',
  }),
  insecure: toggle({
    flag: 'insecure',
    default: false,
    group: 'Requests',
    on: HTTP,
    doc: 'Accept certificates that cannot be verified.',
  }),
  http2: toggle({ flag: 'http2', default: false, group: 'Requests', on: HTTP, doc: 'Offer HTTP/2.' }),
  render: toggle({
    flag: 'render',
    default: false,
    onlyFor: ['false'],
    group: 'Requests',
    on: CRAWL,
    doc: 'Render pages in a browser.',
  }),
} as const
