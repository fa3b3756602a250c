/** Links of a page as stores keep them: one line of JSON, with numbers for what they lead to. */

import type { LinkKind } from './contract.ts'

/** Their places are kept: new ones are added at the end. */
const LINK_KINDS = ['a', 'area', 'link', 'iframe', 'frame', 'refresh'] as const satisfies readonly LinkKind[]

/** A link whose target the store has named by a number. */
export interface NumberedLink {
  readonly target: number
  readonly kind: LinkKind
  readonly rel: string
  readonly text: string
}

/** What is empty at the end is left out: most links have no rel. */
type Packed = readonly [target: number, kind?: number, text?: string, rel?: string]

export function packLinks(links: readonly NumberedLink[]): string {
  return JSON.stringify(links.map(packLink))
}

function packLink({ target, kind, rel, text }: NumberedLink): Packed {
  const place = LINK_KINDS.indexOf(kind)
  if (rel !== '') return [target, place, text, rel]
  if (text !== '') return [target, place, text]
  return place === 0 ? [target] : [target, place]
}

export function unpackLinks(json: string): readonly NumberedLink[] {
  return (JSON.parse(json) as readonly Packed[]).map(([target, kind = 0, text = '', rel = '']) => ({
    target,
    kind: LINK_KINDS[kind] ?? 'a',
    rel,
    text,
  }))
}

/** Links that join those kept before: each target, kind and rel once. */
export function joinLinks(before: readonly NumberedLink[], more: readonly NumberedLink[]): readonly NumberedLink[] {
  const joined = new Map<string, NumberedLink>()
  for (const link of [...before, ...more]) {
    const key = `${link.target} ${link.kind} ${link.rel}`
    if (!joined.has(key)) joined.set(key, link)
  }
  return [...joined.values()]
}
