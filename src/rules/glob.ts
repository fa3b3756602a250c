/** Globs for URLs, compared in time proportional to the length of the URL: what comes from a page is hostile. */

import type { UrlTest } from './contract.ts'

/** `{a,b}` many times over multiplies. */
const MAX_ALTERNATIVES = 256
const MAX_GLOB_CHARS = 2_000

const ANY = 1 // `**`
const ANY_BUT_SLASH = 2 // `*`
const FOLDERS = 3 // `**/`
type Token = string | typeof ANY | typeof ANY_BUT_SLASH | typeof FOLDERS

/** The test, or what is wrong with the glob: what was expected. */
export function parseGlob(glob: string): UrlTest | { readonly problem: string } {
  if (glob.length > MAX_GLOB_CHARS) return { problem: `a glob of at most ${MAX_GLOB_CHARS} characters` }
  if (!/^(?:\/|\*\*|[a-z*{][a-z0-9*{},]*:\/\/)/i.test(glob))
    return { problem: 'a glob that begins with / (a path), ** or a scheme such as https://' }
  const alternatives = expandBraces(glob)
  if (alternatives === undefined) return { problem: `braces that close, with at most ${MAX_ALTERNATIVES} alternatives` }
  const tests = alternatives.map(compile)
  const partOf = partFor(glob)
  return {
    test: (url) => {
      const part = partOf(url)
      return tests.some((test) => test(part))
    },
  }
}

/** What of the URL is compared: without a `?` in the glob the query plays no part. */
function partFor(glob: string): (url: string) => string {
  const withQuery = glob.includes('?')
  const pathOnly = glob.startsWith('/')
  return (url) => {
    const query = withQuery ? -1 : url.indexOf('?')
    const end = query === -1 ? url.length : query
    if (!pathOnly) return url.slice(0, end)
    const path = url.indexOf('/', url.indexOf('//') + 2)
    return path === -1 || path > end ? '/' : url.slice(path, end)
  }
}

/** Undefined: a brace is not closed, or there are too many. The innermost braces go first. */
function expandBraces(glob: string): readonly string[] | undefined {
  let open: readonly string[] = [glob]
  for (;;) {
    const first = open[0] ?? ''
    const braces = /(?<!\\)\{([^{}]*)(?<!\\)\}/.exec(first)
    if (braces === null) return /(?<!\\)[{}]/.test(first) ? undefined : open
    const expanded = open.flatMap((one) => expandOnce(one))
    if (expanded.length > MAX_ALTERNATIVES) return undefined
    open = expanded
  }
}

function expandOnce(glob: string): readonly string[] {
  const braces = /(?<!\\)\{([^{}]*)(?<!\\)\}/.exec(glob)
  if (braces === null) return [glob]
  const head = glob.slice(0, braces.index)
  const tail = glob.slice(braces.index + braces[0].length)
  return (braces[1] ?? '').split(',').map((alternative) => head + alternative + tail)
}

function tokensOf(glob: string): readonly Token[] {
  const tokens: Token[] = []
  for (const [piece] of glob.matchAll(/\*\*\/|\*\*|\*|\\.|[^]/g)) {
    if (piece === '**/') tokens.push(FOLDERS)
    else if (piece === '**') tokens.push(ANY)
    else if (piece === '*') tokens.push(ANY_BUT_SLASH)
    else tokens.push(piece.length === 2 && piece.startsWith('\\') ? piece.slice(1) : piece)
  }
  return tokens
}

function compile(glob: string): (text: string) => boolean {
  const tokens = tokensOf(glob)
  const wild = tokens.findIndex((token) => typeof token === 'number')
  const prefix = tokens.slice(0, wild === -1 ? tokens.length : wild).join('')
  if (wild === -1) return (text) => text === prefix
  const rest = tokens.slice(wild)
  return (text) => text.startsWith(prefix) && runMachine(rest, text, prefix.length)
}

/** All ways through the glob at once, a character a step: nothing is ever tried twice. */
function runMachine(tokens: readonly Token[], text: string, from: number): boolean {
  let states = new Set<number>()
  enter(states, tokens, 0)
  for (let index = from; index < text.length && states.size > 0; index++) {
    states = step(states, tokens, text.charAt(index))
  }
  return states.has(tokens.length)
}

function step(states: ReadonlySet<number>, tokens: readonly Token[], char: string): Set<number> {
  const next = new Set<number>()
  for (const state of states) {
    const token = tokens[state]
    if (token === ANY || (token === ANY_BUT_SLASH && char !== '/')) enter(next, tokens, state)
    else if (token === FOLDERS) {
      next.add(state) // inside a folder's name: it is over with its slash
      if (char === '/') enter(next, tokens, state + 1)
    } else if (token === char) enter(next, tokens, state + 1)
  }
  return next
}

/** What may stand for nothing is passed over as well. */
function enter(states: Set<number>, tokens: readonly Token[], state: number): void {
  states.add(state)
  if (typeof tokens[state] === 'number') enter(states, tokens, state + 1)
}
