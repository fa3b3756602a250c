/** The mark of an answer that a browser has rendered: a header of ours, which goes through the cache with it. */

import type { HeaderList, RenderedFileKind } from './contract.ts'
import { headerOf } from './headers.ts'

/** Servers' own headers of this name are dropped. */
const RENDERED_HEADER = 'spoor-rendered'

export type RenderedFiles = Readonly<Partial<Record<RenderedFileKind, string>>>

/** `files` are paths relative to the data folder. */
export function withRenderedMark(headers: HeaderList, files: RenderedFiles): HeaderList {
  const parts = Object.entries(files).map(([kind, file]) => `; ${kind}=${file}`)
  return [...withoutRenderedMark(headers), [RENDERED_HEADER, `1${parts.join('')}`]]
}

export function withoutRenderedMark(headers: HeaderList): HeaderList {
  return headers.some(([name]) => name === RENDERED_HEADER)
    ? headers.filter(([name]) => name !== RENDERED_HEADER)
    : headers
}

/** Undefined: the answer is as the server sent it. */
export function renderedFilesOf(headers: HeaderList): RenderedFiles | undefined {
  const mark = headerOf(headers, RENDERED_HEADER)
  if (mark === undefined) return undefined
  const files = [...mark.matchAll(/; (screenshot|pdf)=([\w./-]+)/g)]
  return Object.fromEntries(files.map(([, kind, file]) => [kind, file])) as RenderedFiles
}
