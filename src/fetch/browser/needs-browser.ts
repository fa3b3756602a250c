/** Whether a page shows by its markup that it needs scripts to become what its readers see: a table of rules. */

/** The rules, in the order in which they are asked; docs/guides/render.md explains each. */
export const BROWSER_RULES = ['noscript-notice', 'empty-root', 'no-text'] as const
export type BrowserRule = (typeof BROWSER_RULES)[number]

/** Further down nothing is looked at. */
const MAX_CHARS = 512 * 1024
/** Text of a page that is more than a frame for scripts; characters without white space. */
const SOME_TEXT = 200
/** An inline script below this only sets things up. */
const SMALL_SCRIPT = 256

/** Where well-known libraries put a page: React, Vue, Angular, Svelte, Next, Nuxt, Gatsby, Ember, Quasar, Remix. */
const ROOT_IDS: ReadonlySet<string> = new Set([
  'root',
  'app',
  'app-root',
  'react-root',
  'main-app',
  'mount',
  '__next',
  '__nuxt',
  '__layout',
  '___gatsby',
  'svelte',
  'ember-app',
  'q-app',
])
const ROOT_TAGS: ReadonlySet<string> = new Set(['app-root', 'my-app', 'ng-app', 'ember-app'])

/** "Enable JavaScript", "you need JavaScript to run this app", "JavaScript is required" and their kin. */
const ASKS_FOR_SCRIPTS =
  /\b(?:enable|activate|turn on|requires?|needs?|without|disabled|aktivier\w*|activez|habilit\w*|attiva\w*)\b/i
const NAMES_SCRIPTS = /\bjava\s?script\b/i

/** Undefined: the page can be read as it is. Linear in its length. */
export function ruleForBrowser(html: string): BrowserRule | undefined {
  const facts = readFacts(html.slice(0, MAX_CHARS))
  if (!facts.hasScripts) return undefined
  // a notice on a page full of text is about some extra of it
  const isThin = facts.textChars < SOME_TEXT
  if (facts.asksForScripts && (isThin || facts.hasEmptyRoot)) return 'noscript-notice'
  if (facts.hasEmptyRoot && (isThin || facts.links === 0)) return 'empty-root'
  return isThin && facts.links === 0 ? 'no-text' : undefined
}

interface Facts {
  hasScripts: boolean
  asksForScripts: boolean
  hasEmptyRoot: boolean
  textChars: number
  links: number
}

/** Elements whose text no reader sees. */
const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'title', 'textarea', 'iframe'])

function readFacts(html: string): Facts {
  const facts: Facts = { hasScripts: false, asksForScripts: false, hasEmptyRoot: false, textChars: 0, links: 0 }
  let pos = 0
  while (pos < html.length) {
    const open = html.indexOf('<', pos)
    const textEnd = open === -1 ? html.length : open
    facts.textChars += visibleChars(html, pos, textEnd)
    if (open === -1) break
    pos = takeMarkup(html, open, facts)
  }
  return facts
}

function visibleChars(html: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (html.charCodeAt(at) > 0x20) count++
  return count
}

/** Answers where the text after it begins. */
function takeMarkup(html: string, open: number, facts: Facts): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + 4)
  const close = after(html, '>', open)
  const tag = html.slice(open, Math.min(close, open + 2000))
  const name = /^<([a-z][a-z0-9-]*)/i.exec(tag)?.[1]?.toLowerCase()
  if (name === undefined) return /^<[/!?]/.test(tag) ? close : open + 1
  if (name === 'a' && /\shref\s*=/i.test(tag)) facts.links++
  if (isRoot(name, tag) && isEmptyAt(html, close)) facts.hasEmptyRoot = true
  return UNSEEN.has(name) ? takeUnseen(html, { name, tag, from: close }, facts) : close
}

interface Element {
  readonly name: string
  readonly tag: string
  readonly from: number
}

function takeUnseen(html: string, { name, tag, from }: Element, facts: Facts): number {
  const end = endTagOf(html, name, from)
  const text = html.slice(from, end)
  if (name === 'script' && isProgram(tag, text)) facts.hasScripts = true
  if (name === 'noscript' && NAMES_SCRIPTS.test(text) && ASKS_FOR_SCRIPTS.test(text)) facts.asksForScripts = true
  return after(html, '>', end)
}

/** Not data for search engines or for the page's own scripts. */
function isProgram(tag: string, text: string): boolean {
  const type = /\stype\s*=\s*["']?([^\s"'>]*)/i.exec(tag)?.[1]?.toLowerCase()
  if (type !== undefined && type !== '' && type !== 'module' && !type.includes('javascript')) return false
  return (
    /\ssrc\s*=/i.test(tag) || text.length >= SMALL_SCRIPT || /\b(?:fetch|import)\s*\(|\.innerHTML|append/.test(text)
  )
}

function endTagOf(html: string, name: string, from: number): number {
  for (let at = from; ;) {
    const end = html.indexOf('</', at)
    if (end === -1) return html.length
    if (html.slice(end + 2, end + 2 + name.length).toLowerCase() === name) return end
    at = end + 2
  }
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from)
  return at === -1 ? html.length : at + mark.length
}

function isRoot(name: string, tag: string): boolean {
  if (ROOT_TAGS.has(name)) return true
  if (name !== 'div' && name !== 'main' && name !== 'section') return false
  const id = /\sid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*))/i.exec(tag)
  return ROOT_IDS.has((id?.[1] ?? id?.[2] ?? id?.[3] ?? '').toLowerCase())
}

/** Its end tag follows, or nothing else that can be seen before it. */
function isEmptyAt(html: string, from: number): boolean {
  const inside = html.slice(from, from + 2000).replace(/<!--[^]*?-->/g, '')
  return /^\s*<\//.test(inside)
}
