/** User names and passwords in URLs, taken out of text that is shown to others. */

// a run ends where the next one may begin: no text is read twice
const USERINFO = /((?:https?:)?\/\/)[^\s/?#\\]+@/gi

/** `http://user:password@host/` becomes `http://***@host/`, wherever it stands in the text. */
export function hideUserinfo(text: string): string {
  return text.replace(USERINFO, '$1***@')
}
