/** The rules of a task, made ready: each is the task itself with what the rule changes. */

import { cacheOverrideOf } from '../cache/override.ts'
import { CrawlError } from '../core/errors.ts'
import type { EngineTask } from '../engine/contract.ts'
import { urlSchema } from '../extract/select.ts'
import type { RenderMode } from '../fetch/contract.ts'
import { createRuleChooser } from '../rules/choose.ts'
import { listOf } from '../rules/pattern.ts'
import type { Rule } from './rule.ts'

/** Throws CONFIG_INVALID for a pattern or a cache setting that is none. */
export function routesOf(
  rules: readonly Rule[],
  task: EngineTask,
  renderOf: (mode: RenderMode) => Pick<EngineTask, 'render'>,
): NonNullable<EngineTask['routeOf']> {
  const tasks = new Map(
    rules.map((rule) => [rule, { ...taskOfRule(rule, task), ...renderPart(rule, task, renderOf) }] as const),
  )
  const choose = createRuleChooser(rules)
  return ({ request, url }) => {
    const rule = choose({ label: request.label, url })
    const found = rule === undefined ? undefined : tasks.get(rule)
    return found ?? { ...task, handler: { kind: 'user', handle: () => refuse(request.label, url, rules) } }
  }
}

function taskOfRule(rule: Rule, task: EngineTask): EngineTask {
  const { handler, timeoutMs, handlerTimeoutMs, retries, cache } = rule
  const { downloads: own, ...others } = task
  const downloads = rule.downloads === undefined ? own : urlSchema(listOf(rule.downloads))
  return {
    ...others,
    ...(downloads === undefined ? {} : { downloads }),
    ruleName: nameOfRule(rule),
    handler: handler === undefined ? { kind: 'page-record' } : { kind: 'user', handle: handler },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(handlerTimeoutMs === undefined ? {} : { handlerTimeoutMs }),
    ...(retries === undefined ? {} : { maxRetries: retries }),
    ...(cache === undefined ? {} : { cache: cacheOverrideOf(cache) }),
  }
}

function renderPart(
  { render: mode }: Rule,
  { render }: EngineTask,
  renderOf: (mode: RenderMode) => Pick<EngineTask, 'render'>,
): Pick<EngineTask, 'render'> {
  if (mode !== 'off') return mode === undefined ? {} : renderOf(mode)
  return render === undefined ? {} : { render: { ...render, mode } }
}

/** For people. */
export function nameOfRule({ name, label, match }: Rule): string {
  if (name !== undefined) return name
  if (label !== undefined) return String(label)
  if (match === undefined) return 'default'
  return listOf(match).map(nameOfPattern).join(' | ')
}

const nameOfPattern = (pattern: unknown): string =>
  typeof pattern === 'string' || pattern instanceof RegExp ? String(pattern) : 'a pattern'

/** A page that nothing takes is a fault of the rules: told, and to be taken up again when they are mended. */
function refuse(label: string | undefined, url: string, rules: readonly Rule[]): never {
  const asked = label === undefined ? 'has no label' : `has the label ${JSON.stringify(label)}`
  const problem = `no rule takes ${url}, which ${asked}: expected one of ${rules.map(nameOfRule).join(', ')} to fit; add a default handler`
  const error = new CrawlError('CONFIG_INVALID', { context: { problem } })
  // it is listed with each such page, and where in here it was made says nothing
  error.stack = problem
  throw error
}
