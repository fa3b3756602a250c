/** The invariants of the memory store, counted anew from its rows. */

import type { RequestState } from '../../core/request.ts'
import { hostKeyNow } from './model.ts'
import type { Model, Row, Task } from './model.ts'

export function verifyModel(model: Model): string[] {
  const problems: string[] = []
  const inFlight = new Map<string, number>()
  for (const [name, task] of model.tasks) {
    problems.push(...verifyCounts(name, task))
    for (const row of task.rows.values()) {
      problems.push(...verifyRow(row))
      if (row.lease !== undefined && row.lease.unpaced !== true)
        inFlight.set(hostKeyNow(row), (inFlight.get(hostKeyNow(row)) ?? 0) + 1)
    }
  }
  for (const { key, state } of model.hosts.values()) {
    const held = inFlight.get(key) ?? 0
    if (held !== state.inFlight) problems.push(`Host ${key} counts ${state.inFlight} in flight, but ${held} are leased`)
  }
  return problems
}

function verifyCounts(name: string, task: Task): string[] {
  const counted: Record<RequestState, number> = { pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 }
  for (const row of task.rows.values()) counted[row.state]++
  return Object.entries(counted)
    .filter(([state, n]) => task.counts[state as RequestState] !== n)
    .map(([state, n]) => `Task ${name} counts ${task.counts[state as RequestState]} ${state}, but ${n} are`)
}

function verifyRow(row: Row): string[] {
  const { url } = row.request
  const places = [row.entry, row.retryAtMs].filter((place) => place !== undefined).length
  const problems: string[] = []
  if (places !== (row.state === 'pending' ? 1 : 0)) problems.push(`${url} is ${row.state} and in ${places} queues`)
  if ((row.lease !== undefined) !== (row.state === 'leased')) problems.push(`${url} is ${row.state}, its lease is not`)
  if (row.aliasOf !== undefined && row.state !== 'skipped') problems.push(`${url} is an alias and ${row.state}`)
  return problems
}
