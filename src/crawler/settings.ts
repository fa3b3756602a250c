/** What the options mean for the parts: pure translation, no part is opened here. */

import { OPTIONS, type ResolvedOptions } from '../config/options.ts'
import { CrawlError } from '../core/errors.ts'
import type { EngineOptions } from '../engine/contract.ts'
import type { RenderMode, RenderSettings, RenderWait } from '../fetch/contract.ts'
import type { TaskSettings } from '../frontier/contract.ts'
import { createIdentity } from '../url/identity.ts'

/** Least time between two request starts to one host when nobody asked for another. */
export const DEFAULT_DELAY_MS = 500

export function taskSettingsOf(options: ResolvedOptions): TaskSettings {
  return {
    name: options.task,
    order: options.order,
    ...(options.maxDepth === undefined ? {} : { maxDepth: options.maxDepth }),
    delayMs: delayOf(options),
    loopbackDelayMs: options.delayMs ?? 0,
    maxInFlightPerHost: options.perHost,
    identity: createIdentity(options.identity).name,
  }
}

/** Of hosts that are not loopback. */
export function delayOf({ delayMs }: Pick<ResolvedOptions, 'delayMs'>): number {
  return delayMs ?? DEFAULT_DELAY_MS
}

export function engineOptionsOf(options: ResolvedOptions): EngineOptions {
  return {
    maxConcurrency: options.concurrency,
    leaseMs: options.leaseMs,
    ...(options.maxPages === undefined ? {} : { maxPages: options.maxPages }),
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
    ...(options.maxTimeMs === undefined ? {} : { maxTimeMs: options.maxTimeMs }),
  }
}

/** Has any of these tasks, or one of their rules, its pages rendered? Then the browser is tried before anything is fetched. */
export function isAnyRendered(
  tasks: readonly { readonly options: ResolvedOptions; readonly rules?: readonly { readonly render?: RenderMode }[] }[],
): boolean {
  return tasks.some(
    ({ options, rules = [] }) =>
      renderSettingsOf(options) !== undefined || rules.some(({ render = 'off' }) => render !== 'off'),
  )
}

/** Undefined: pages are not rendered. Throws CONFIG_INVALID for what is only of use with rendering. */
export function renderSettingsOf(options: ResolvedOptions): RenderSettings | undefined {
  // a library's caller may have said true or false
  const mode = OPTIONS.render.parse(String(options.render))
  const save = (['screenshot', 'pdf'] as const).filter((kind) => options[kind])
  if (!mode.ok || mode.value === 'off') {
    if (save.length === 0) return undefined
    throw new CrawlError('CONFIG_INVALID', { context: { problem: `--${save[0]}: expected --render with it` } })
  }
  const { renderWait, renderTimeoutMs: timeoutMs, renderBlock } = options
  const named = renderBlock.filter((kind) => kind !== 'nothing')
  return {
    mode: mode.value as RenderSettings['mode'],
    wait: renderWait.startsWith('selector:')
      ? { selector: renderWait.slice('selector:'.length).trim() }
      : (renderWait as Exclude<RenderWait, object>),
    timeoutMs,
    block: renderBlock.length === 0 ? (save.length === 0 ? UNSEEN : NOT_HEARD) : named,
    save,
  }
}

/** Whom a reader of markup does not miss. A picture of the page wants to show all but what plays. */
const UNSEEN = ['image', 'font', 'media'] as const
const NOT_HEARD = ['media'] as const

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** The user's headers, lower case: those that any host may see, and those that only the seeds' hosts may. */
export function requestHeadersOf(options: Pick<ResolvedOptions, 'headers' | 'cookies'>): {
  readonly headers: Readonly<Record<string, string>>
  readonly seedHeaders: Readonly<Record<string, string>>
} {
  const headers: Record<string, string> = {}
  const seedHeaders: Record<string, string> = {}
  for (const { name, value } of options.headers) {
    const key = name.toLowerCase()
    const target = CREDENTIALS.has(key) ? seedHeaders : headers
    const before = target[key]
    target[key] = before === undefined ? value : `${before}${key === 'cookie' ? '; ' : ', '}${value}`
  }
  return { headers, seedHeaders }
}
