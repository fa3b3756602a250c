/** Rules that send a connection elsewhere, as curl's `--connect-to HOST1:PORT1:HOST2:PORT2`. */

export interface Endpoint {
  /** Name or address, without brackets. */
  readonly host: string
  readonly port: number
}

export interface ConnectToRule {
  /** Empty matches any host; otherwise lower case, without brackets. */
  readonly fromHost: string
  /** Undefined matches any port. */
  readonly fromPort: number | undefined
  /** Empty keeps the host. */
  readonly toHost: string
  /** Undefined keeps the port. */
  readonly toPort: number | undefined
}

const RULE = /^(\[[^\]]*\]|[^:[\]]*):(\d*):(\[[^\]]*\]|[^:[\]]*):(\d*)$/

/** Undefined when the text is no rule. */
export function parseConnectTo(text: string): ConnectToRule | undefined {
  const match = RULE.exec(text)
  if (match === null) return undefined
  const [, fromHost = '', fromPort = '', toHost = '', toPort = ''] = match
  const ports = [fromPort, toPort].map((port) => (port === '' ? undefined : Number(port)))
  if (ports.some((port) => port !== undefined && (port < 1 || port > 65_535))) return undefined
  return { fromHost: bare(fromHost), fromPort: ports[0], toHost: bare(toHost), toPort: ports[1] }
}

/** Where to connect for an endpoint: the first rule that matches decides. `chosen` when one named the address. */
export function applyConnectTo(
  rules: readonly ConnectToRule[],
  asked: Endpoint,
): Endpoint & { readonly chosen: boolean } {
  const host = asked.host.toLowerCase()
  const rule = rules.find(
    (each) =>
      (each.fromHost === '' || each.fromHost === host) && (each.fromPort === undefined || each.fromPort === asked.port),
  )
  if (rule === undefined) return { ...asked, chosen: false }
  return {
    host: rule.toHost === '' ? asked.host : rule.toHost,
    port: rule.toPort ?? asked.port,
    chosen: rule.toHost !== '',
  }
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '').toLowerCase()
}
