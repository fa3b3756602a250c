/** Optional rules that make more URLs count as one page; they change what identity rests on and never what is sent. */

/** Every rule there is, in the order in which they are applied. */
export const IDENTITY_RULES = [
  'drop-session-ids',
  'drop-tracking',
  'sort-query',
  'strip-www',
  'strip-trailing-slash',
] as const
export type IdentityRule = (typeof IDENTITY_RULES)[number]

export interface Identity {
  /** Stable name of the set of rules, for `TaskSettings.identity`: `whatwg`, or `whatwg+sort-query+…`. */
  readonly name: string
  /** From a canonical URL to what the fingerprint is taken of. Idempotent. */
  identityOf(canonical: string): string
}

/** Default: no rule, the canonical form itself. */
export function createIdentity(rules: readonly IdentityRule[] = []): Identity {
  const chosen = IDENTITY_RULES.filter((rule) => rules.includes(rule))
  return {
    name: ['whatwg', ...chosen].join('+'),
    identityOf: (canonical) => chosen.reduce((url, rule) => APPLY[rule](url), canonical),
  }
}

const APPLY: Readonly<Record<IdentityRule, (url: string) => string>> = {
  'drop-session-ids': (url) => filterQuery(withoutSessionPath(url), (name, value) => !isSessionParameter(name, value)),
  'drop-tracking': (url) => filterQuery(url, (name) => !isTrackingParameter(name)),
  'sort-query': sortQuery,
  'strip-www': (url) => url.replace(/^(https?:\/\/(?:[^/@]*@)?)(?:www\.)+(?=[^/]*\.)/, '$1'),
  'strip-trailing-slash': stripTrailingSlash,
}

const SESSION_NAMES = new Set([
  'jsessionid',
  'phpsessid',
  'sessionid',
  'session_id',
  'cfid',
  'cftoken',
  'zenid',
  'oscsid',
])
const TRACKING_NAMES = new Set(
  'gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid mc_cid mc_eid _ga _gl _hsenc _hsmi'.split(
    ' ',
  ),
)

/** `name` in any case. Short names that are used for other things too (`sid`) count only with a value like a token. */
export function isSessionParameter(name: string, value: string): boolean {
  const lower = name.toLowerCase()
  if (SESSION_NAMES.has(lower) || lower.startsWith('aspsessionid')) return true
  return (lower === 'sid' || lower === 's' || lower === 'session') && isToken(value)
}

/** Session ids that stand in the path: `;jsessionid=…` and the `(S(…))` of ASP.NET. */
export function withoutSessionPath(url: string): string {
  const path = pathStart(url)
  const query = queryStart(url)
  const kept = url
    .slice(path, query)
    .replace(/;(?:jsessionid|phpsessid|sid)=[^/;]*/gi, '')
    .replace(/(?:\/\((?:[A-Z]\([0-9a-zA-Z]{20,32}\))+\))+(?=\/)/g, '')
  return url.slice(0, path) + kept + url.slice(query)
}

/** At least 16 letters and digits, both among them: what a server draws, not what a person names. */
function isToken(value: string): boolean {
  return (
    value.length >= 16 &&
    value.length <= 256 &&
    /^[0-9a-z_-]+$/i.test(value) &&
    /\d/.test(value) &&
    /[a-z]/i.test(value)
  )
}

/** Keeps the parameters that `keep` accepts, as they are written; the `?` goes when none is left. */
export function filterQuery(url: string, keep: (name: string, value: string) => boolean): string {
  const query = queryStart(url)
  if (query === url.length) return url
  const parts = url.slice(query + 1).split('&')
  const kept = parts.filter((part) => {
    const equals = part.indexOf('=')
    return equals === -1 ? keep(part, '') : keep(part.slice(0, equals), part.slice(equals + 1))
  })
  if (kept.length === parts.length) return url
  return kept.length === 0 ? url.slice(0, query) : `${url.slice(0, query)}?${kept.join('&')}`
}

function isTrackingParameter(name: string): boolean {
  const lower = name.toLowerCase()
  return lower.startsWith('utm_') || TRACKING_NAMES.has(lower)
}

/** By name; values of one name keep their order, which can mean something. */
function sortQuery(url: string): string {
  const query = queryStart(url)
  if (query === url.length) return url
  const parts = url.slice(query + 1).split('&')
  const named = parts.map((part) => ({ name: part.split('=', 1)[0] ?? '', part }))
  named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return `${url.slice(0, query)}?${named.map(({ part }) => part).join('&')}`
}

function stripTrailingSlash(url: string): string {
  const query = queryStart(url)
  const root = pathStart(url) + 1
  let end = query
  while (end > root && url[end - 1] === '/') end--
  return end === query ? url : url.slice(0, end) + url.slice(query)
}

function pathStart(url: string): number {
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path === -1 ? url.length : path
}

function queryStart(url: string): number {
  const query = url.indexOf('?')
  return query === -1 ? url.length : query
}
