/** Finds where texts without markup end: raw text, scripts with their escaped states, comments, declarations. */

/** The `<` of the end tag `</name` at or after `from`, or −1. */
export function endOfRawText(html: string, from: number, name: string): number {
  let open = html.indexOf('</', from)
  while (open >= 0 && !isEndTag(html, open, name)) open = html.indexOf('</', open + 2)
  return open
}

function isEndTag(html: string, open: number, name: string): boolean {
  const start = open + 2
  for (let i = 0; i < name.length; i++) {
    if ((html.charCodeAt(start + i) | 0x20) !== name.charCodeAt(i)) return false
  }
  return endsName(html.charCodeAt(start + name.length))
}

function endsName(code: number): boolean {
  return code === 0x3e || code === 0x2f || code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b)
}

const ESCAPED_MARKS = /-->|<(\/?)script(?=[\t\n\f\r />])/gi

/**
 * The `<` of the end tag of a script at or after `from`, or −1. `<!--` escapes: between it and `-->`, a `<script` and its
 * `</script` are text (script data double escaped state).
 */
export function endOfScript(html: string, from: number): number {
  let pos = from
  for (;;) {
    const open = html.indexOf('<', pos)
    if (open < 0) return -1
    if (html.charCodeAt(open + 1) === 0x2f && isEndTag(html, open, 'script')) return open
    if (html.startsWith('<!--', open)) {
      const found = endOfEscaped(html, open + 2)
      if (found.end || found.at < 0) return found.at
      pos = found.at
    } else {
      pos = open + 1
    }
  }
}

/** From the dashes of `<!--` on: where the escape ends (go on there), or where the script ends; −1: never. */
function endOfEscaped(html: string, from: number): { readonly end: boolean; readonly at: number } {
  let twice = false
  ESCAPED_MARKS.lastIndex = from
  for (;;) {
    const mark = ESCAPED_MARKS.exec(html)
    if (mark === null) return { end: true, at: -1 }
    const isEnd = mark[1] === '/'
    if (mark[0] === '-->') return { end: false, at: mark.index + 3 }
    if (isEnd && !twice) return { end: true, at: mark.index }
    twice = !isEnd
  }
}

/** Passes over `<!` at `open`: the place after it, or −1 when the page ends in it. */
export function skipDeclaration(html: string, open: number, cdata: boolean): number {
  if (html.startsWith('--', open + 2)) return skipComment(html, open)
  if (cdata && html.startsWith('[CDATA[', open + 2)) {
    const end = html.indexOf(']]>', open + 9)
    return end < 0 ? -1 : end + 3
  }
  const end = html.indexOf('>', open + 2)
  return end < 0 ? -1 : end + 1
}

/** `-->` ends a comment, `--!>` too, and `<!-->` and `<!--->` are whole ones. */
function skipComment(html: string, open: number): number {
  let dashes = open + 2
  for (;;) {
    const after = html.charCodeAt(dashes + 2)
    if (after === 0x3e) return dashes + 3
    if (after === 0x21 && dashes >= open + 4 && html.charCodeAt(dashes + 3) === 0x3e) return dashes + 4
    dashes = html.indexOf('--', dashes + 1)
    if (dashes < 0) return -1
  }
}
