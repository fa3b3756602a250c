/** A URL taken apart into what goes on the wire, by position: the text was serialised by a URL parser before. */

export interface WireUrl {
  readonly secure: boolean
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** Host and port as the Host header carries them. */
  readonly authority: string
  /** Path and query. */
  readonly path: string
  /** The value of Authorization, when the URL holds a user. */
  readonly authorization: string | undefined
}

/** Undefined when it is no http or https URL. */
export function parseWireUrl(url: string): WireUrl | undefined {
  const secure = url.startsWith('https://')
  if (!secure && !url.startsWith('http://')) return undefined
  const from = secure ? 8 : 7
  const hash = url.indexOf('#', from)
  const end = hash === -1 ? url.length : hash
  const slash = url.indexOf('/', from)
  if (slash === -1 || slash > end) return undefined
  const at = url.lastIndexOf('@', slash)
  const authority = url.slice(at < from ? from : at + 1, slash)
  const endpoint = splitAuthority(authority, secure ? 443 : 80)
  if (endpoint === undefined) return undefined
  const authorization = at < from ? undefined : basic(url.slice(from, at))
  const { host, port } = endpoint
  return { secure, host, port, authority, path: url.slice(slash, end), authorization }
}

function splitAuthority(
  authority: string,
  defaultPort: number,
): { readonly host: string; readonly port: number } | undefined {
  const colon = authority.endsWith(']') ? -1 : authority.lastIndexOf(':')
  const name = colon === -1 ? authority : authority.slice(0, colon)
  const host = name.startsWith('[') ? name.slice(1, -1) : name
  const port = colon === -1 ? defaultPort : Number(authority.slice(colon + 1))
  return host !== '' && Number.isInteger(port) && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

function basic(userinfo: string): string {
  const [user = '', ...password] = userinfo.split(':')
  const text = `${decode(user)}:${decode(password.join(':'))}`
  return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
