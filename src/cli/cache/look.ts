/** `spoor cache ls`, `get` and `stats`: what is in the cache. */

import type { CacheEntry, CacheStats } from '../../cache/contract.ts'
import { configError, shown } from '../../config/given.ts'
import { formatBytes, formatCount, formatDuration } from '../../util/format.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { clean, columns, plural } from '../text.ts'
import { checkUrl, isHttpUrl } from '../urls.ts'
import { meantHosts, placeOf, withCache } from './open.ts'

export async function listEntries(context: CommandContext): Promise<ExitCode> {
  const { output, host } = context
  const filter = filterOf(context)
  return withCache(context, async (cache) => {
    const [count, bytes] = [{ n: 0 }, { n: 0 }]
    for await (const entry of cache.entries(filter)) {
      count.n += 1
      bytes.n += entry.bodyBytes
      if (output.json) await output.jsonLine(entryJson(entry))
      else await output.result(entryLine(entry, host.clock.nowMs()))
    }
    if (count.n > 0) output.hint(`${plural(count.n, 'entry', 'entries')}, ${formatBytes(bytes.n)}`)
    else if (filter.host === undefined) output.hint('Nothing is there.')
    else output.hint(`Nothing of ${clean(filter.host)} is there${await meantHosts(cache, filter.host)}`)
    return EXIT.done
  })
}

/** `--host` and the beginning of a URL. */
export function filterOf({ options, positionals }: CommandContext): {
  readonly host?: string
  readonly urlPrefix?: string
} {
  const [urlPrefix] = positionals
  if (urlPrefix !== undefined && !isHttpUrl(urlPrefix))
    throw configError(`expected the beginning of an http or https URL, found ${shown(urlPrefix)}`)
  return {
    ...(options.onlyHost === undefined ? {} : { host: options.onlyHost.toLowerCase() }),
    ...(urlPrefix === undefined ? {} : { urlPrefix }),
  }
}

function entryLine(entry: CacheEntry, nowMs: number): string {
  const size = formatBytes(entry.bodyBytes).padStart(8)
  const age = ageOf(entry.checkedAtMs, nowMs).padStart(12)
  const method = entry.method === 'GET' ? '' : ` (${clean(entry.method)})`
  return `${entry.status}  ${size}  ${age}  ${clean(entry.wireUrl ?? entry.url)}${method}`
}

/** Since the server last said that it is this page. */
function ageOf(atMs: number, nowMs: number): string {
  return formatDuration(nowMs - atMs)
}

function entryJson(entry: CacheEntry): Record<string, unknown> {
  return {
    url: entry.wireUrl ?? entry.url,
    status: entry.status,
    bytes: entry.bodyBytes,
    fetchedAt: isoOf(entry.fetchedAtMs),
    contentType: entry.headers.find(([name]) => name === 'content-type')?.[1] ?? null,
    checkedAt: isoOf(entry.checkedAtMs),
    method: entry.method,
  }
}

/** An imported archive may hold dates that no calendar has. */
function isoOf(ms: number): string | null {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

export async function getEntry(context: CommandContext): Promise<ExitCode> {
  const { output, positionals } = context
  const url = checkUrl(positionals[0] ?? '')
  return withCache(context, async (cache) => {
    const found = await cache.get(url)
    if (found === undefined) {
      output.problem(`spoor: ${clean(url)}: not in the cache of ${placeOf(context, cache)}`)
      return EXIT.failed
    }
    const { entry, body } = found
    if (output.json) await output.jsonLine({ ...entryJson(entry), headers: headerRecord(entry) })
    else await output.write(body)
    const location = entry.headers.find(([name]) => name === 'location')?.[1]
    if (entry.status !== 200 && !output.json)
      output.hint(`HTTP ${entry.status}${location === undefined ? '' : `, which leads to ${clean(location)}`}`)
    return EXIT.done
  })
}

function headerRecord({ headers }: CacheEntry): Record<string, string | string[]> {
  const record = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of headers) {
    const before = record[name]
    if (before === undefined) record[name] = value
    else record[name] = [...(Array.isArray(before) ? before : [before]), value]
  }
  return record
}

export async function showStats(context: CommandContext): Promise<ExitCode> {
  const { output, host } = context
  return withCache(context, async (cache) => {
    const stats = await cache.stats()
    if (output.json) await output.jsonLine(statsJson(stats, cache))
    else
      await output.result(
        statsText(stats, { place: placeOf(context, cache), kind: cache.kind, nowMs: host.clock.nowMs() }),
      )
    return EXIT.done
  })
}

/** Of the questions that the cache could have answered; null: none was asked. */
function hitRateOf({ hits, revalidated, misses }: CacheStats['counts']): number | null {
  const asked = hits + revalidated + misses
  return asked === 0 ? null : (hits + revalidated) / asked
}

function statsJson(stats: CacheStats, cache: { readonly location: string; readonly kind: string }): unknown {
  const { counts, oldestMs, newestMs } = stats
  const hitRate = hitRateOf(counts)
  return {
    location: cache.location,
    store: cache.kind,
    entries: stats.entries,
    bodies: stats.bodies,
    bytes: stats.bodyBytes,
    packedBytes: stats.packedBytes,
    diskBytes: stats.diskBytes,
    oldest: oldestMs === undefined ? null : isoOf(oldestMs),
    newest: newestMs === undefined ? null : isoOf(newestMs),
    ...counts,
    hitRate: hitRate === null ? null : Math.round(hitRate * 10_000) / 10_000,
    hosts: stats.hosts.map(({ host, entries, bodyBytes }) => ({ host, entries, bytes: bodyBytes })),
  }
}

interface StatsPlace {
  readonly place: string
  readonly kind: string
  readonly nowMs: number
}

const SHOWN_HOSTS = 10

function statsText(stats: CacheStats, { place, kind, nowMs }: StatsPlace): string {
  const { counts, oldestMs, newestMs, entries } = stats
  const rate = hitRateOf(counts)
  const rows = [
    ['  entries', formatCount(entries), `${plural(stats.bodies, 'distinct body', 'distinct bodies')}`],
    ['  pages', formatBytes(stats.bodyBytes), `kept as ${formatBytes(stats.packedBytes)}${ratioOf(stats)}`],
    ['  disk', formatBytes(stats.diskBytes), entries === 0 ? '' : `${formatBytes(stats.diskBytes / entries)} an entry`],
    ['  hit rate', rate === null ? '-' : `${(rate * 100).toFixed(1)} %`, countsText(counts)],
    ['  saved', formatBytes(counts.savedBytes), 'that were not downloaded again'],
    ['  oldest', oldestMs === undefined ? '-' : ageOf(oldestMs, nowMs), ''],
    ['  newest', newestMs === undefined ? '-' : ageOf(newestMs, nowMs), ''],
  ]
  return [`Download cache in ${place} (${kind})`, ...columns(rows, new Set([1])), ...hostsText(stats)].join('\n')
}

function ratioOf({ bodyBytes, packedBytes }: CacheStats): string {
  return packedBytes > 0 && bodyBytes > packedBytes ? `, ${(bodyBytes / packedBytes).toFixed(1)} : 1` : ''
}

function countsText({ hits, revalidated, misses }: CacheStats['counts']): string {
  return `${plural(hits, 'hit')}, ${formatCount(revalidated)} confirmed by their server, ${plural(misses, 'miss', 'misses')}`
}

function hostsText({ hosts, entries }: CacheStats): string[] {
  if (hosts.length === 0) return []
  const top = hosts.slice(0, SHOWN_HOSTS)
  const rows = top.map(({ host, entries: n, bodyBytes }) => [
    `  ${clean(host)}`,
    formatCount(n),
    formatBytes(bodyBytes),
  ])
  const rest = entries - top.reduce((sum, { entries: n }) => sum + n, 0)
  return [
    '',
    ...columns([['  host', 'entries', 'size'], ...rows], new Set([1, 2])),
    ...(rest > 0 ? [`  and ${plural(rest, 'entry', 'entries')} of other hosts`] : []),
  ]
}
