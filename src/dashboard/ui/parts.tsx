/** Small pieces that the panels share. */

import type { ComponentChildren, JSX } from 'preact'
import { safeText } from './format.ts'

/** A crawled URL: a link only where it is one of the web, and never more than text. */
export function UrlText({ url }: { readonly url: string }): JSX.Element {
  const shown = safeText(url)
  return /^https?:\/\//i.test(url) ? (
    <a class="url" href={url} target="_blank" rel="noreferrer noopener" title={shown}>
      {shown}
    </a>
  ) : (
    <span class="url">{shown}</span>
  )
}

interface PanelProps {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  readonly wide?: boolean
}

export function Panel({ title, aside, children, wide = false }: PanelProps): JSX.Element {
  const id = `panel-${title.toLowerCase().replace(/\W+/g, '-')}`
  return (
    <section class={wide ? 'panel wide' : 'panel'} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

export function Note({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <p class="note">{children}</p>
}

export function ErrorNote({ error }: { readonly error: string | undefined }): JSX.Element | null {
  return error === undefined ? null : (
    <p class="note bad" role="alert">
      {error}
    </p>
  )
}

interface PagerProps {
  readonly page: number
  readonly hasNext: boolean
  readonly onFirst: () => void
  /** Where one can go back a page. */
  readonly onBack?: () => void
  readonly onNext: () => void
}

export function Pager({ page, hasNext, onFirst, onBack, onNext }: PagerProps): JSX.Element {
  return (
    <nav class="pager" aria-label="Pages of the list">
      <button type="button" disabled={page === 0} onClick={onFirst}>
        First
      </button>
      {onBack === undefined ? null : (
        <button type="button" disabled={page === 0} onClick={onBack}>
          Back
        </button>
      )}
      <span>Page {page + 1}</span>
      <button type="button" disabled={!hasNext} onClick={onNext}>
        Next
      </button>
    </nav>
  )
}
