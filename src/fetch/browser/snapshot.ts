/** What a page looks like now, as HTML: read in a world of its own, where the page's scripts have nothing to say. */

import type { CDPSession } from 'playwright-core'

export type Snapshot =
  | { readonly kind: 'html'; readonly html: string; readonly url: string }
  /** More characters than the bound. */
  | { readonly kind: 'too-large'; readonly chars: number }

/**
 * Runs in the browser. Trees that elements keep in open shadow roots are written out where they are seen, since markup
 * alone does not hold them.
 */
const READ_PAGE = `((maxChars) => {
  const root = document.documentElement
  if (root === null) return { html: '', url: document.URL }
  const hasShadow = (() => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT)
    for (let node = root; node !== null; node = walker.nextNode()) if (node.shadowRoot !== null) return true
    return false
  })()
  const copy = (node) => {
    const twin = node.cloneNode(false)
    const pairs = [[node, twin]]
    while (pairs.length > 0) {
      const [from, to] = pairs.pop()
      const add = (child, parent) => {
        const one = child.cloneNode(false)
        parent.append(one)
        pairs.push([child, one])
      }
      if (from.shadowRoot) {
        const seen = document.createElement('div')
        seen.setAttribute('data-shadow-root', '')
        to.append(seen)
        for (const child of from.shadowRoot.childNodes) add(child, seen)
      }
      if (from.localName === 'template') to.innerHTML = from.innerHTML
      for (const child of from.childNodes) add(child, to)
    }
    return twin
  }
  const type = document.doctype
  const doctype = type === null ? '' : '<!DOCTYPE ' + type.name + '>'
  const html = doctype + (hasShadow ? copy(root) : root).outerHTML
  return html.length > maxChars ? { chars: html.length } : { html, url: document.URL }
})`

/** Rejects when the page is gone, or with the words of Chromium when it cannot be read. */
export async function takeSnapshot(session: CDPSession, frameId: string, maxChars: number): Promise<Snapshot> {
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName: 'spoor' })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `${READ_PAGE}(${maxChars})`,
    contextId: executionContextId,
    returnByValue: true,
  })
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text)
  const value = result.value as { readonly html?: string; readonly url?: string; readonly chars?: number }
  if (value.chars !== undefined) return { kind: 'too-large', chars: value.chars }
  return { kind: 'html', html: value.html ?? '', url: value.url ?? '' }
}
