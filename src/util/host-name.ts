/** Host keys taken apart: the name without its port, and whether it means this very machine. */

/** The host of a host key, without the port; an IPv6 address keeps its brackets. */
export function hostNameOf(hostKey: string): string {
  const colon = hostKey.lastIndexOf(':')
  return colon === -1 || hostKey.endsWith(']') ? hostKey : hostKey.slice(0, colon)
}

/**
 * Whether a host is loopback by its name alone: localhost and what is under it (RFC 6761), 127.0.0.0/8, ::1 and its
 * IPv4-mapped forms. Nothing is resolved.
 */
export function isLoopbackHost(hostKey: string): boolean {
  const name = hostNameOf(hostKey).replace(/\.$/, '')
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(name)
  )
}
