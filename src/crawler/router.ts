/** A router: handlers by label, as an object that rules and middleware are added to. */

import { CrawlError } from '../core/errors.ts'
import type { AnyLabels, Middleware, RequestHandler } from '../engine/contract.ts'
import type { RuleMatch } from '../rules/contract.ts'
import type { Rule, RuleSettings } from './rule.ts'

/** What a router is where one is given. */
export interface Routing {
  readonly rules: readonly Rule[]
  readonly middleware: readonly Middleware[]
}

type RouteOptions = RuleSettings & Pick<RuleMatch, 'match' | 'exclude'>

/**
 * Goes wherever a list of rules does, and for a `requestHandler`. `L` declares the user data of each label:
 * `createRouter<{ detail: { sku: string } }>()`.
 */
export class Router<L extends object = AnyLabels> implements Routing {
  readonly #rules: Rule[] = []
  readonly #middleware: Middleware[] = []
  #fallback: Rule | undefined

  /** In the order in which they were added, the default handler last. */
  get rules(): readonly Rule[] {
    return this.#fallback === undefined ? [...this.#rules] : [...this.#rules, this.#fallback]
  }

  get middleware(): readonly Middleware[] {
    return [...this.#middleware]
  }

  /** For requests with this label. Throws CONFIG_INVALID when the label has a handler without a pattern already. */
  addHandler<K extends keyof L & string>(label: K, handler: RequestHandler<L, K>, options: RouteOptions = {}): this {
    const isTaken = this.#rules.some((rule) => rule.label === label && rule.match === undefined)
    if (isTaken) throw invalid(`the label ${label} has a handler already, which takes all its pages`)
    this.#rules.push({ ...options, label, handler: handler as unknown as RequestHandler })
    return this
  }

  /** For what nothing else takes. Throws CONFIG_INVALID for a second one. */
  addDefaultHandler(handler: RequestHandler<L>, options: RuleSettings = {}): this {
    if (this.#fallback !== undefined) throw invalid('there is a default handler already')
    this.#fallback = { ...options, name: 'default', handler: handler as unknown as RequestHandler }
    return this
  }

  /** A rule of any kind, after those that there are. */
  addRule(rule: Rule<L>): this {
    this.#rules.push(rule as unknown as Rule)
    return this
  }

  /** Around every page, after the middleware that there is. */
  use(middleware: Middleware): this {
    this.#middleware.push(middleware)
    return this
  }
}

export function createRouter<L extends object = AnyLabels>(): Router<L> {
  return new Router<L>()
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
