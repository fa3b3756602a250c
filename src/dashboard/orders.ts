/** What the page may order: each checked, carried out, and answered with a sentence. */

import type { CrawlRun, Tuning } from '../crawler/contract.ts'
import { CrawlError } from '../core/errors.ts'
import { formatCount } from '../util/format.ts'
import { failureFilterOf, invalid } from './questions.ts'
import type { DashboardSource } from './source.ts'
import type { OpenTask } from './tasks.ts'
import type { Done } from './wire.ts'

const MAX_CONCURRENCY = 10_000
const MAX_DELAY_MS = 30 * 86_400_000

export interface OrderContext {
  readonly source: DashboardSource
  readonly open: OpenTask
  readonly body: Readonly<Record<string, unknown>>
}

export type Order = (context: OrderContext) => Promise<Done>

export const ORDERS: ReadonlyMap<string, Order> = new Map<string, Order>([
  ['/api/pause', (context) => pause(context, true)],
  ['/api/resume', (context) => pause(context, false)],
  ['/api/stop', stop],
  ['/api/tune', tune],
  ['/api/retry', retry],
])

/** Rejects with CONFIG_INVALID where there is no run to order about. */
async function runOf({ source }: OrderContext): Promise<CrawlRun> {
  const run = await source.run
  if (run !== undefined) return run
  const problem = 'expected a crawl that this process runs, found one that is only looked at'
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
}

async function pause(context: OrderContext, paused: boolean): Promise<Done> {
  await (await runOf(context)).tune({ paused })
  return { said: paused ? 'Paused: what is in flight ends, nothing new is begun' : 'The crawl goes on' }
}

async function stop(context: OrderContext): Promise<Done> {
  const run = await runOf(context)
  run.stop()
  return { said: 'Stopping: what is in flight ends; the same command goes on later' }
}

async function tune(context: OrderContext): Promise<Done> {
  const { body } = context
  const tuning: Tuning = {
    ...numberOf(body, 'maxConcurrency', { min: 1, max: MAX_CONCURRENCY }),
    ...numberOf(body, 'delayMs', { min: 0, max: MAX_DELAY_MS }),
  }
  const run = await runOf(context)
  await run.tune(tuning)
  return { said: 'Changed until this run ends' }
}

function numberOf(
  body: OrderContext['body'],
  name: 'maxConcurrency' | 'delayMs',
  { min, max }: { readonly min: number; readonly max: number },
): Tuning {
  const value = body[name]
  if (value === undefined) return {}
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw invalid(name, `a whole number from ${min} to ${max}`, String(value))
  return { [name]: value }
}

async function retry({ open, body }: OrderContext): Promise<Done> {
  const query = new URLSearchParams()
  for (const name of ['host', 'status', 'reason']) if (body[name] !== undefined) query.set(name, String(body[name]))
  const { id } = body
  const filter = { ...failureFilterOf(query), ...(typeof id === 'string' ? { ids: [id] } : {}) }
  const count = await open.reader.retryFailures(filter)
  return { said: count === 1 ? '1 request is queued again' : `${formatCount(count)} requests are queued again` }
}
