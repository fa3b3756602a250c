/** Checks tasks as they come from a file: all problems at once, each with its task, its field, what was expected and what was found. */

/** What was expected instead of the value; undefined: it is well. */
type Expected = (value: unknown) => string | undefined

/** Checks that other domains know how to make. */
export interface TaskChecks {
  readonly pattern: Expected
  readonly duration: Expected
  readonly size: Expected
  readonly cache: Expected
  readonly recrawl: Expected
  readonly fileField: Expected
  /** The nearest name, for a field that there is not. */
  readonly nearest: (name: string, names: readonly string[]) => string | undefined
}

interface Problem {
  /** `.scope.match[1]` */
  readonly path: string
  readonly what: string
}
type Check = (value: unknown, path: string) => readonly Problem[]
type Fields = Readonly<Record<string, Check>>

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const COOKIE_NAME = /^[^\s;,=]+$/
/** Of problems that are told in full. */
const MAX_TOLD = 20
const MAX_SHOWN = 80

/** One line a problem; empty when all is well. `tasks` is what somebody's file exported. */
export function taskProblems(tasks: readonly unknown[], checks: TaskChecks): readonly string[] {
  const check = taskCheck(checks)
  const names = new Set<string>()
  const problems = tasks.flatMap((task, index) => {
    const name = nameOf(task)
    const found = [...check(task, '')]
    if (name !== undefined && names.has(name)) found.push(expectedHere('.name', 'another one for each task', name))
    if (name !== undefined) names.add(name)
    return found.map(
      ({ path, what }) => `${name ?? `task ${index + 1}`}: ${path.slice(1)}${path === '' ? '' : ': '}${what}`,
    )
  })
  const more = problems.length - MAX_TOLD
  return more > 0 ? [...problems.slice(0, MAX_TOLD), `and ${more} more`] : problems
}

function nameOf(task: unknown): string | undefined {
  return isObject(task) && typeof task['name'] === 'string' && task['name'] !== '' ? task['name'] : undefined
}

function taskCheck(checks: TaskChecks): Check {
  const fields = fieldsOf(
    {
      name: is(
        'a name of 1 to 100 letters, digits, spaces, ".", "_" and "-"',
        (v) => typeof v === 'string' && NAME.test(v),
      ),
      seeds: is('a URL, a request { url, … }, many of them, or a function that answers them', isSeeds),
      cookies: textRecord(COOKIE_NAME),
      headers: textRecord(HEADER_NAME),
      maxDepth: count(0),
      waitTime: amount(checks.duration),
      reload: is('true or false', (value) => typeof value === 'boolean'),
      recrawl: by(checks.recrawl),
      downloads: each(by(checks.fileField)),
      scope: scopeCheck(checks),
      limits: fieldsOf(
        { maxPages: count(1), maxTime: amount(checks.duration), maxBytes: amount(checks.size) },
        checks.nearest,
      ),
      graph: is('true or false', (value) => typeof value === 'boolean'),
      priority: is('a whole number', (value) => Number.isSafeInteger(value)),
      rules: rulesCheck(checks),
      requestHandler: isFunction,
      failedRequestHandler: isFunction,
      middleware: each(middlewareCheck(checks)),
      fetcher: is("'http', 'browser', 'auto' or an object with fetch(request)", isFetcher),
    },
    checks.nearest,
  )
  return (task, path) => {
    if (!isObject(task)) return [expectedHere(path, 'an object as defineTask takes it', task)]
    const problems = [...fields(task, path)]
    if (task['name'] === undefined) problems.push(expectedHere('.name', 'a name', undefined))
    if (task['rules'] !== undefined && task['requestHandler'] !== undefined)
      problems.push({ path: '.requestHandler', what: 'expected either rules or a requestHandler, found both' })
    return problems
  }
}

function scopeCheck(checks: TaskChecks): Check {
  const kind = oneOf(['host', 'domain', 'prefix', 'any'])
  const patterns = each(by(checks.pattern))
  const object = fieldsOf({ kind, match: patterns, exclude: patterns }, checks.nearest)
  return (value, path) => (isObject(value) ? object : kind)(value, path)
}

/** What a router has is checked as a list of rules is. */
function rulesCheck(checks: TaskChecks): Check {
  const patterns = each(by(checks.pattern))
  const rule = fieldsOf(
    {
      name: is('text', (value) => typeof value === 'string'),
      label: each(is('a label', (value) => typeof value === 'string' && value !== '')),
      match: patterns,
      exclude: patterns,
      handler: isFunction,
      timeoutMs: count(1),
      handlerTimeoutMs: count(1),
      retries: count(0),
      cache: by(checks.cache),
      render: oneOf(['off', 'on', 'auto']),
      downloads: each(by(checks.fileField)),
    },
    checks.nearest,
  )
  const list = each(rule)
  return (value, path) => {
    const rules = isObject(value) ? value['rules'] : value
    if (!Array.isArray(rules) || rules.length === 0)
      return [expectedHere(path, 'a list of rules with at least one, or a router with a handler', value)]
    return list(rules, path)
  }
}

function middlewareCheck({ nearest }: TaskChecks): Check {
  return fieldsOf(
    { beforeFetch: isFunction, afterFetch: isFunction, beforeEnqueue: isFunction, onItem: isFunction },
    nearest,
  )
}

function is(expected: string, test: (value: unknown) => boolean): Check {
  return (value, path) => (test(value) ? [] : [expectedHere(path, expected, value)])
}

function by(expected: Expected): Check {
  return (value, path) => {
    const wanted = expected(value)
    return wanted === undefined ? [] : [expectedHere(path, wanted, value)]
  }
}

const isFunction = is('a function', (value) => typeof value === 'function')

const oneOf = (words: readonly string[]): Check => is(words.join(', '), (value) => words.includes(value as string))

const count = (min: number): Check =>
  is(`a whole number of ${min} or more`, (value) => Number.isSafeInteger(value) && (value as number) >= min)

/** A number in the smallest unit, or text with a unit. */
function amount(text: Expected): Check {
  const number = is('a whole number of 0 or more', (value) => Number.isSafeInteger(value) && (value as number) >= 0)
  const withUnit = by(text)
  return (value, path) => (typeof value === 'string' ? withUnit : number)(value, path)
}

/** Each of a list, or the one that there is. */
function each(check: Check): Check {
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((one, index) => check(one, `${path}[${index}]`)) : check(value, path)
}

function fieldsOf(fields: Fields, nearest: TaskChecks['nearest']): Check {
  const names = Object.keys(fields)
  return (value, path) => {
    if (!isObject(value)) return [expectedHere(path, `an object with ${names.join(', ')}`, value)]
    return Object.entries(value).flatMap(([field, one]) => {
      const check = Object.hasOwn(fields, field) ? fields[field] : undefined
      if (check !== undefined) return one === undefined ? [] : check(one, `${path}.${field}`)
      const near = nearest(field, names)
      return [{ path: `${path}.${field}`, what: `no such field${near === undefined ? '' : `; did you mean ${near}?`}` }]
    })
  }
}

function textRecord(name: RegExp): Check {
  return (value, path) => {
    if (!isObject(value)) return [expectedHere(path, 'an object with a text for each name', value)]
    return Object.entries(value).flatMap(([key, one]) => {
      if (!name.test(key)) return [expectedHere(path, 'names as HTTP has them', key)]
      const isText = typeof one === 'string' && !/[\r\n\0]/.test(one)
      // the value may be a secret
      return isText ? [] : [{ path: `${path}.${key}`, what: 'expected one line of text, found something else' }]
    })
  }
}

function isSeeds(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  return 'url' in value || Symbol.iterator in value || Symbol.asyncIterator in value
}

function isFetcher(value: unknown): boolean {
  if (['http', 'browser', 'auto'].includes(value as string)) return true
  return isObject(value) && typeof value['fetch'] === 'function'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function expectedHere(path: string, expected: string, found: unknown): Problem {
  return { path, what: `expected ${expected}, found ${shown(found)}` }
}

/** A value for a message, on one line; no more of an object than its kind, since it may hold secrets. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
