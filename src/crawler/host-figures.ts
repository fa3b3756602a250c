/** The hosts that this process is busiest with, and the slowest of them: in bounded memory, for those who look on. */

export interface HostFigure {
  readonly host: string
  /** Sent to it by this process. */
  readonly requests: number
  /** How long they take, the last ones counting most. */
  readonly ms: number
}

export interface HostFigures {
  note(url: string, ms: number): void
  busiest(max: number): readonly HostFigure[]
  /** Of those that were asked more than once. */
  slowest(max: number): readonly HostFigure[]
}

/** Those not asked for longest are forgotten. */
const MAX_HOSTS = 1000
const SHARE_OF_LAST = 0.2

export function createHostFigures(): HostFigures {
  const hosts = new Map<string, { requests: number; ms: number }>()
  const sorted = (order: (a: HostFigure, b: HostFigure) => number, least: number): HostFigure[] =>
    [...hosts].flatMap(([host, one]) => (one.requests < least ? [] : [{ host, ...one }])).toSorted(order)
  return {
    note: (url, ms) => {
      const host = hostOf(url)
      const known = hosts.get(host)
      hosts.delete(host)
      hosts.set(host, {
        requests: (known?.requests ?? 0) + 1,
        ms: known === undefined ? ms : known.ms + (ms - known.ms) * SHARE_OF_LAST,
      })
      if (hosts.size <= MAX_HOSTS) return
      const [oldest] = hosts.keys()
      if (oldest !== undefined) hosts.delete(oldest)
    },
    busiest: (max) => sorted((a, b) => b.requests - a.requests, 1).slice(0, max),
    slowest: (max) => sorted((a, b) => b.ms - a.ms, 2).slice(0, max),
  }
}

/** With the port; without credentials. */
function hostOf(url: string): string {
  const from = url.indexOf('//') + 2
  const path = url.slice(from).search(/[/?#]/)
  const authority = path === -1 ? url.slice(from) : url.slice(from, from + path)
  return authority.slice(authority.lastIndexOf('@') + 1)
}
