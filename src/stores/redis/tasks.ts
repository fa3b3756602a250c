/** Tasks over Redis: opened, opened anew with other settings, put back, forgotten; in windows, so that no script is long. */

import type { RequestFilter, TaskSettings } from '../../frontier/contract.ts'
import type { Session } from './session.ts'

/** Requests, or hosts, that one script changes: a few milliseconds of the server. */
const WINDOW = '500'

export async function openTask(session: Session, settings: TaskSettings): Promise<void> {
  const { name, identity, order, maxDepth = '', delayMs, loopbackDelayMs, maxInFlightPerHost } = settings
  const numbers = [maxDepth, delayMs, loopbackDelayMs, maxInFlightPerHost].map(String)
  const scan = await session.write('task', 'openTask', [name, identity, JSON.stringify(settings), order, ...numbers])
  if (scan === '') return
  // Places of a host may have become free, requests may have come in reach or gone out of it.
  for (let cursor = '0'; cursor !== '';) cursor = String(await session.write('task', 'retime', [WINDOW, cursor]))
  for (let place = '0'; place !== '';) place = String(await session.write('task', 'rescan', [name, place, WINDOW]))
}

export function filterArgs({ state, reason, status, hostKey, depth }: RequestFilter): string[] {
  return [state, reason, status, hostKey, depth].map((part) => (part === undefined ? '' : String(part)))
}

export async function requeue(session: Session, filter: RequestFilter): Promise<number> {
  let sum = 0
  for (let place = '0'; place !== '';) {
    const args = [filter.task, ...filterArgs(filter), place, WINDOW]
    const [count, next = ''] = String(await session.write('task', 'requeue', args)).split('|')
    sum += Number(count)
    place = next
  }
  return sum
}

export async function clearTask(session: Session, name: string): Promise<void> {
  await session.write('task', 'clear', [name])
  await sweep(session)
}

/** Deletes what is left of tasks that were cleared, also by a process that died over it. */
export async function sweep(session: Session): Promise<void> {
  while ((await session.write('task', 'sweep', [WINDOW])) === 'more');
}
