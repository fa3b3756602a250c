/** The hosts of a task, for those who look. */

import type { Frontier } from '../../frontier/contract.ts'
import { hostReport } from '../../politeness/host-state.ts'
import { isLoopbackHost } from '../../util/host-name.ts'
import type { Session } from './session.ts'

/** Hosts that one script looks at: a few milliseconds of the server. */
const WINDOW = 1000

export async function listHosts(
  session: Session,
  task: string,
  { after, max }: { readonly after?: string; readonly max: number },
): ReturnType<Frontier['hosts']> {
  const args = [task, after ?? '0', String(Math.min(max, WINDOW))]
  const [list, cursor, now, delay, loopbackDelay] = await session.ask('hosts', args)
  const hosts = (list as readonly (readonly unknown[])[]).map(([key, ...figures]) => {
    const [ready = 0, nextAtMs = 0, inFlight = 0, crawlDelayMs = 0, ...rest] = figures.map(Number)
    const [backoffStep = 0, backoffAtMs = 0, silentFailures = 0, downUntilMs = 0] = rest
    const state = { nextAtMs, inFlight, crawlDelayMs, backoffStep, backoffAtMs, silentFailures, downUntilMs }
    const hostKey = String(key)
    const delayMs = Number(isLoopbackHost(hostKey) ? loopbackDelay : delay)
    return { hostKey, ready, ...hostReport(state, { delayMs, maxInFlight: 1 }, Number(now)) }
  })
  return cursor === '0' ? { hosts } : { hosts, next: String(cursor) }
}
