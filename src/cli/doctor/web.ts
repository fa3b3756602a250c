/** One request to a URL that is given: its name, connection, certificate, and what its server thinks the time is. */

import type { FetchedPage } from '../../crawler/contract.ts'
import type { CommandContext } from '../command.ts'
import { loadLibrary } from '../library.ts'
import type { Finding } from './finding.ts'

/** Cookies and certificates live longer than this. */
const MAX_DRIFT_MS = 5 * 60_000

export async function webFindings(context: CommandContext, url: string): Promise<readonly Finding[]> {
  const { answer } = await ask(context, url)
  const check = 'web'
  if (answer.error !== undefined)
    return [
      {
        check,
        level: 'problem',
        found: `${url}: ${answer.error}`,
        advice: `spoor fetch ${url} --trace shows how far it came`,
      },
    ]
  const steps = answer.trace?.hops.flatMap((hop) => hop.steps) ?? []
  const tls = steps.flatMap((step) => (step.kind === 'tls' ? [`, ${step.protocol}`] : []))[0] ?? ''
  const found = `${answer.finalUrl}: ${answer.status ?? 'no status'}${tls}`
  return [{ check, level: 'ok', found }, ...driftFinding(answer.headers['date'], context.host.clock.nowMs())]
}

/** Of the web, whatever a cache has. */
async function ask({ host, options, output }: CommandContext, url: string): Promise<FetchedPage> {
  const { openPageFetcher } = await loadLibrary()
  const fetcher = await openPageFetcher({ ...options, trace: true, env: host.env, onWarning: output.hint })
  try {
    return await fetcher.fetchOnce(url)
  } finally {
    await fetcher.close()
  }
}

export function driftFinding(date: string | readonly string[] | undefined, nowMs: number): readonly Finding[] {
  const serverMs = typeof date === 'string' ? Date.parse(date) : Number.NaN
  if (Number.isNaN(serverMs)) return []
  const seconds = Math.round(Math.abs(nowMs - serverMs) / 1000)
  const found = `${seconds} s from the server's`
  if (seconds * 1000 <= MAX_DRIFT_MS) return [{ check: 'clock', level: 'ok', found }]
  return [
    { check: 'clock', level: 'warning', found, advice: 'set the clock: certificates and cookies are judged by it' },
  ]
}
