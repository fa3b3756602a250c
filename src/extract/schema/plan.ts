/** A schema made ready to run: every selector compiled, every mistake found, before any page is there. */

import { CrawlError } from '../../core/errors.ts'
import type { JsonValue } from '../../core/json.ts'
import { foldSpace } from '../text.ts'
import type { Convert, ExtractSchema, FieldSchema, FieldType, OneField } from './contract.ts'
import { convertText } from './convert.ts'
import {
  cssFinder,
  type Found,
  jsonFinder,
  type MadeFinder,
  metaFinder,
  openGraphFinder,
  readableFinder,
  regexFinder,
  type Run,
  type Scope,
  structuredFinder,
  xpathFinder,
} from './finders.ts'
import { expandShorthand } from './shorthand.ts'

/** A run that keeps count of how much has been taken. */
export interface CountedRun extends Run {
  /** Throws when it is too much. */
  readonly take: (chars: number) => void
}

export interface Plan {
  readonly give: (run: CountedRun, scope: Scope) => Record<string, unknown>
  readonly needsTree: boolean
  readonly hasPositions: boolean
}

const plans = new WeakMap<ExtractSchema, Plan>()

/** Compiled once for each schema object. Throws CONFIG_INVALID with every problem in it. */
export function planOf(schema: ExtractSchema): Plan {
  let plan = plans.get(schema)
  if (plan === undefined) {
    const compiler = new Compiler()
    plan = compiler.plan(schema, '')
    if (compiler.problems.length > 0) {
      throw new CrawlError('CONFIG_INVALID', { context: { problem: compiler.problems.join('; ') } })
    }
    plans.set(schema, plan)
  }
  return plan
}

type Give = (run: CountedRun, scope: Scope) => unknown
type SourceField = Exclude<OneField, string>

const FIELD_TYPES: readonly FieldType[] = ['text', 'number', 'integer', 'boolean', 'date', 'url', 'html', 'json']
const READABLE_PARTS = ['text', 'markdown', 'html', 'title', 'byline', 'excerpt']
const KINDS = 'css, xpath, regex, json, jsonld, microdata, metatag, opengraph, readable, each or fields'
const MAX_DEPTH = 20

class Compiler {
  readonly problems: string[] = []
  #needsTree = false
  #hasPositions = false

  plan(schema: ExtractSchema, path: string): Plan {
    const gives = this.#gives(schema, path)
    return {
      // a name like __proto__ is a field like any other
      give: (run, scope) => Object.fromEntries(gives.map(([name, give]) => [name, give(run, scope)])),
      needsTree: this.#needsTree,
      hasPositions: this.#hasPositions,
    }
  }

  #gives(schema: ExtractSchema, path: string): (readonly [name: string, give: Give])[] {
    if (!isPlainObject(schema)) {
      this.#problem(path, 'expected an object of fields', schema)
      return []
    }
    if (path.split('.').length > MAX_DEPTH) {
      this.#problem(path, `expected at most ${String(MAX_DEPTH)} levels of fields`, '')
      return []
    }
    return Object.entries(schema).map(([name, field]) => [
      name,
      this.#field(field, path === '' ? name : `${path}.${name}`),
    ])
  }

  #field(field: FieldSchema, path: string): Give {
    const isList = Array.isArray(field)
    const one = (isList ? field[0] : field) as OneField | undefined
    if (one === undefined || (isList && field.length !== 1))
      return this.#problem(path, 'expected a list of one field', field)
    const expanded = typeof one === 'string' ? expandShorthand(one) : one
    if (!isPlainObject(expanded)) return this.#problem(path, 'expected a field: text or an object', one)
    try {
      return this.#give(expanded, { path, isList })
    } catch (error) {
      return this.#problem(path, `expected ${expectedOf(expanded)} (${messageOf(error)})`, one)
    }
  }

  #give(field: SourceField, { path, isList }: { readonly path: string; readonly isList: boolean }): Give {
    if ('fields' in field) return this.#group(field, { path, isList })
    const made = makeFinder(field)
    if (made === undefined) return this.#problem(path, `expected one of ${KINDS}`, Object.keys(field).join(', '))
    this.#note(made)
    const as = 'as' in field ? field.as : undefined
    if (as !== undefined && typeof as !== 'function' && !FIELD_TYPES.includes(as)) {
      return this.#problem(path, `expected as: one of ${FIELD_TYPES.join(', ')} or a function`, as)
    }
    const { find } = made
    if (!isList) {
      return (run, scope) => {
        const found = find(run, scope, 1)[0]
        return found === undefined ? null : valueOf(run, found, as)
      }
    }
    return (run, scope) =>
      find(run, scope, Number.POSITIVE_INFINITY)
        .map((found) => valueOf(run, found, as))
        .filter((value) => value !== null)
  }

  #group(field: Extract<SourceField, { fields: ExtractSchema }>, { path, isList }: GroupPlace): Give {
    const gives = this.#gives(field.fields, path)
    const give: Give = (run, scope) => Object.fromEntries(gives.map(([name, one]) => [name, one(run, scope)]))
    const where = 'each' in field ? field.each : field.within
    if (where === undefined) return give
    const made = makeFinder(expandShorthand(where) as SourceField)
    if (made === undefined) return this.#problem(path, 'expected a selector', where)
    this.#note(made)
    const scopes = (run: CountedRun, scope: Scope, max: number): unknown[] =>
      made.find(run, scope, max).flatMap((found) => ('text' in found ? [] : [give(run, inner(found, scope))]))
    if ('each' in field || isList) return (run, scope) => scopes(run, scope, Number.POSITIVE_INFINITY)
    return (run, scope) => scopes(run, scope, 1)[0] ?? null
  }

  #note(made: MadeFinder): void {
    this.#needsTree ||= made.needsTree
    this.#hasPositions ||= made.hasPositions === true
  }

  #problem(path: string, expected: string, found: unknown): Give {
    const name = path === '' ? 'the schema' : `the field ${path}`
    this.problems.push(`${name}: ${expected}, found ${JSON.stringify(found) ?? String(found)}`)
    return () => null
  }
}

interface GroupPlace {
  readonly path: string
  readonly isList: boolean
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function inner(found: Exclude<Found, { text: string }>, scope: Scope): Scope {
  return 'node' in found ? { ...scope, node: found.node } : { ...scope, value: found.json }
}

// oxlint-disable-next-line complexity -- a table of kinds
function makeFinder(field: SourceField): MadeFinder | undefined {
  if ('css' in field) return cssFinder(field)
  if ('xpath' in field) return xpathFinder(field)
  if ('regex' in field) return regexFinder(field)
  if ('json' in field) return jsonFinder(field)
  if ('jsonld' in field || 'microdata' in field) return structuredFinder(field)
  if ('metatag' in field) return metaFinder(field)
  if ('opengraph' in field) return openGraphFinder
  if ('readable' in field && READABLE_PARTS.includes(field.readable)) return readableFinder(field)
  return undefined
}

function expectedOf(field: SourceField): string {
  if ('css' in field) return 'a CSS selector'
  if ('xpath' in field) return 'an XPath 1.0 expression'
  if ('regex' in field) return 'a regular expression'
  return 'json' in field || 'jsonld' in field || 'microdata' in field ? 'a JSONPath' : 'a field'
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim()
}

function valueOf(run: CountedRun, found: Found, as: Convert | undefined): unknown {
  if ('json' in found && as === undefined) return counted(run, found.json)
  if ('node' in found && as === 'html') return counted(run, run.tree().htmlOf(found.node))
  const text = counted(run, textOf(run, found))
  if (as === undefined || as === 'text' || as === 'html') return text
  if (typeof as === 'function') return as(foldSpace(text)) ?? null
  return convertText(text, as, run.source.baseUrl)
}

function textOf(run: CountedRun, found: Found): string {
  if ('node' in found) return foldSpace(run.tree().textOf(found.node))
  if ('text' in found) return found.text
  return typeof found.json === 'string' ? found.json : JSON.stringify(found.json)
}

/** Nested elements hold the same text again and again: what is taken is bounded, not only what is there. */
function counted<T extends JsonValue>(run: CountedRun, value: T): T {
  run.take(typeof value === 'string' ? value.length : 16)
  return value
}
