/** What programs read: probes of an orchestrator and metrics, as plain text. */

import { invalid } from './questions.ts'
import { MAX_HOST_SERIES, type Metrics } from './metrics.ts'
import type { Tasks } from './tasks.ts'

export interface TextContext {
  readonly tasks: Tasks
  readonly metrics: Metrics
  readonly task: string
  readonly query: URLSearchParams
}

export interface TextAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

const READY_MS = 10_000

const plain = (status: number, text: string): TextAnswer => ({
  status,
  type: 'text/plain; charset=utf-8',
  text: `${text}\n`,
})

export const TEXTS: ReadonlyMap<string, (context: TextContext) => Promise<TextAnswer>> = new Map([
  ['/healthz', () => Promise.resolve(plain(200, 'alive'))],
  ['/readyz', readiness],
  ['/metrics', scrape],
])

/** Ready: the store has answered within the last seconds. */
async function readiness({ tasks, task }: TextContext): Promise<TextAnswer> {
  const { watch } = await tasks.get(task)
  return watch.ageMs() < READY_MS ? plain(200, 'ready') : plain(503, 'the store does not answer')
}

async function scrape({ tasks, metrics, task, query }: TextContext): Promise<TextAnswer> {
  const hosts = Number(query.get('hosts') ?? 0)
  if (!Number.isInteger(hosts) || hosts < 0 || hosts > MAX_HOST_SERIES)
    throw invalid('hosts', `0 to ${MAX_HOST_SERIES}`, query.get('hosts') ?? '')
  const { watch, reader } = await tasks.get(task)
  const tick = watch.tick()
  if (tick === undefined) return plain(503, 'the store has not answered yet')
  return { status: 200, type: metrics.contentType, text: await metrics.text({ tick, reader, hosts }) }
}
