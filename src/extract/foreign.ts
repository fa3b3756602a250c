/** Keeps track of SVG and MathML in a page: in there `title`, `style` and `script` are other elements, and CDATA is text. */

/** Start tags that end foreign content wherever they are met (13.2.6.5). */
const BREAKOUTS: ReadonlySet<string> = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta ' +
    'nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
)
/** Does a start tag of this name end foreign content wherever it stands? */
export function isBreakout(name: string): boolean {
  return BREAKOUTS.has(name)
}

/** Their end tags close an HTML element around the foreign one, and the foreign one with it. */
const HTML_ENDS: ReadonlySet<string> = new Set(
  [
    ...BREAKOUTS,
    ...'section article aside nav header footer main figure form button label td th tr tbody thead tfoot'.split(' '),
  ].filter((name) => name !== 'body' && name !== 'head'),
)
/** Elements of SVG and MathML that hold HTML again. */
const SVG_INTEGRATION: ReadonlySet<string> = new Set(['foreignobject', 'desc', 'title'])
const MATH_INTEGRATION: ReadonlySet<string> = new Set(['mi', 'mo', 'mn', 'ms', 'mtext', 'annotation-xml'])

/** Deeper nesting is not followed: no page has it, and the search for an end tag stays short. */
const MAX_DEPTH = 64

export interface ForeignStack {
  /** Open `svg`, `math` and elements of theirs that hold HTML, innermost last. */
  readonly open: string[]
}

export function createForeignStack(): ForeignStack {
  return { open: [] }
}

/** The innermost open element is one of SVG or MathML, so that foreign rules apply. */
export function isForeign(stack: ForeignStack): boolean {
  const top = stack.open.at(-1)
  return top === 'svg' || top === 'math'
}

export interface ForeignTag {
  readonly name: string
  readonly selfClosing: boolean
  /** `annotation-xml` that says it holds HTML. */
  readonly holdsHtml: boolean
  /** `font` with one of the attributes that make it the HTML element. */
  readonly htmlFont: boolean
}

/** A start tag met in foreign content. True: it ended that content and is to be read as HTML. */
export function startsHtml(stack: ForeignStack, tag: ForeignTag): boolean {
  if (BREAKOUTS.has(tag.name) || (tag.name === 'font' && tag.htmlFont)) {
    while (isForeign(stack)) stack.open.pop()
    return true
  }
  if (!tag.selfClosing) pushNested(stack, tag)
  return false
}

function pushNested(stack: ForeignStack, tag: ForeignTag): void {
  const { name } = tag
  const inSvg = stack.open.at(-1) === 'svg'
  const integration = (inSvg ? SVG_INTEGRATION : MATH_INTEGRATION).has(name)
  if (name === 'svg' || (integration && (name !== 'annotation-xml' || tag.holdsHtml))) pushForeign(stack, name)
}

export function pushForeign(stack: ForeignStack, name: string): void {
  if (stack.open.length < MAX_DEPTH) stack.open.push(name)
}

/** An end tag met while something foreign is open. */
export function endForeign(stack: ForeignStack, name: string): void {
  const at = stack.open.lastIndexOf(name)
  if (at >= 0) stack.open.length = at
  else if (HTML_ENDS.has(name)) while (isForeign(stack)) stack.open.pop()
}
