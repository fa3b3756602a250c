/** Which addresses a page may lead the crawler to: public unicast ones, whatever their spelling. */

import ipaddr from 'ipaddr.js'

// Names by which clouds serve credentials to whoever asks from inside; a proxy would resolve them for us.
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data',
  'instance-data.ec2.internal',
])

// Public by range, private by use: metadata of Alibaba, Oracle and Azure's wire server.
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['100.100.100.200', '192.0.0.192', '168.63.129.16'])

/** Why this address may not be connected to, or undefined when it may. Anything that is no address is refused. */
export function refuseAddress(address: string): string | undefined {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (!ipaddr.isValid(bare)) return `expected an IP address, found "${bare}"`
  const ip = unwrap(ipaddr.parse(bare))
  if (ip === undefined) return `${bare} hides an address that cannot be checked`
  const shown = ip.toString()
  if (METADATA_ADDRESSES.has(shown)) return `${bare} is a metadata address`
  const range = ip.range()
  return range === 'unicast' ? undefined : `${bare} is a ${range} address`
}

/** Why this host of a URL may not be asked for, told from its name alone. Literals are judged as addresses. */
export function refuseHost(hostname: string): string | undefined {
  const name = hostname.toLowerCase().replace(/\.+$/, '')
  if (ipaddr.isValid(name.replace(/^\[|\]$/g, ''))) return refuseAddress(name)
  if (name === 'localhost' || name.endsWith('.localhost')) return `${name} is this machine`
  if (METADATA_NAMES.has(name)) return `${name} is a metadata service`
  return undefined
}

/** The IPv4 address inside an IPv6 one (mapped, compatible, translated, 6to4), which is what is reached in the end. */
function unwrap(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (!(ip instanceof ipaddr.IPv6)) return ip
  const bytes = ip.toByteArray()
  const range = ip.range()
  const at = embeddedAt(range, bytes)
  if (at !== undefined) return new ipaddr.IPv4(bytes.slice(at, at + 4))
  if (range === 'teredo') return undefined
  // Only 2000::/3 is given out as global unicast (RFC 4291, 2.4).
  return range === 'unicast' && ((bytes[0] ?? 0) & 0xe0) !== 0x20 ? undefined : ip
}

/** Where in the sixteen bytes an IPv4 address lies, if one does. */
function embeddedAt(range: string, bytes: readonly number[]): number | undefined {
  if (range === 'unspecified' || range === 'loopback') return undefined
  if (range === 'rfc6052' || range === 'rfc6145') return 12
  if (range === '6to4') return 2
  // ::ffff:0:0/96 and the older ::/96
  const marker = ((bytes[10] ?? 0) << 8) | (bytes[11] ?? 0)
  return bytes.slice(0, 10).every((byte) => byte === 0) && (marker === 0xffff || marker === 0) ? 12 : undefined
}
