/** How each kind of field finds its values in a page. */

import type { JsonValue } from '../../core/json.ts'
import type {
  CssField,
  JsonField,
  JsonLdField,
  MetaField,
  MicrodataField,
  ReadableField,
  RegexField,
  XPathField,
} from './contract.ts'
import { parseJson } from './convert.ts'
import { compileCss } from './css.ts'
import { compileJsonPath } from './json-path.ts'
import { parseCssAttr } from './shorthand.ts'
import type { ExtractSource } from './source.ts'
import { isOfType, metaOf, openGraphOf } from './structured.ts'
import type { PageTree, TreeNode } from './tree.ts'
import { compileXPath } from './xpath.ts'

/** Where a field is looked for: the whole page, or an element or value of it. */
export interface Scope {
  readonly node?: TreeNode
  readonly value?: JsonValue
}

export interface Run {
  readonly source: ExtractSource
  readonly tree: () => PageTree
}

export type Found = { readonly node: TreeNode } | { readonly text: string } | { readonly json: JsonValue }
/** At most `max` of what fits, in the order of the page. */
export type Finder = (run: Run, scope: Scope, max: number) => readonly Found[]

/** A finder, and what must be known of it beforehand. */
export interface MadeFinder {
  readonly find: Finder
  /** It looks at the tree. */
  readonly needsTree: boolean
  readonly hasPositions?: boolean
}

export function cssFinder({ css: text }: CssField): MadeFinder {
  const { css, attr } = parseCssAttr(text)
  const query = compileCss(css)
  const find: Finder = ({ tree }, { node }, max) => {
    const nodes = max === 1 ? listOf(tree().first(query, node)) : tree().all(query, node)
    if (attr === undefined) return nodes.map((one) => ({ node: one }))
    return nodes.flatMap((one) => listOf(tree().attrOf(one, attr)).map((value) => ({ text: value })))
  }
  return { find, needsTree: true, hasPositions: query.hasPositions }
}

const listOf = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value])

export function xpathFinder({ xpath }: XPathField): MadeFinder {
  const query = compileXPath(xpath)
  const find: Finder = ({ tree }, { node }, max) => query.all(tree(), node ?? tree().root, max)
  return { find, needsTree: true }
}

const findMarkup: Finder = ({ source, tree }, { node }) => [
  { text: node === undefined ? source.text : tree().htmlOf(node) },
]

/** Texts of what a CSS[@attr] finds; without one: the markup of the scope. */
function textsIn(selector: string | undefined): MadeFinder {
  if (selector === undefined) return { find: findMarkup, needsTree: false }
  const made = cssFinder({ css: selector })
  const find: Finder = (run, scope, max) =>
    made.find(run, scope, max).map((found) => ('node' in found ? { text: run.tree().textOf(found.node) } : found))
  return { ...made, find }
}

export function regexFinder({ regex, in: selector }: RegexField): MadeFinder {
  const pattern = globalPattern(regex)
  const texts = textsIn(selector)
  const find: Finder = (run, scope, max) => {
    const found: Found[] = []
    for (const one of texts.find(run, scope, Number.POSITIVE_INFINITY)) {
      if (!('text' in one)) continue
      for (const match of one.text.matchAll(pattern)) {
        const text = match.length > 1 ? match.slice(1).find((group) => group !== undefined) : match[0]
        if (text !== undefined) found.push({ text })
        if (found.length >= max) return found
      }
    }
    return found
  }
  return { ...texts, find }
}

function globalPattern(regex: RegExp | string): RegExp {
  if (regex instanceof RegExp) return new RegExp(regex.source, `${regex.flags.replace(/[gy]/g, '')}g`)
  try {
    return new RegExp(regex, 'gu')
  } catch {
    return new RegExp(regex, 'g') // `\-` and the like are refused by `u` alone
  }
}

export function jsonFinder({ json, in: selector }: JsonField): MadeFinder {
  const query = compileJsonPath(json)
  const texts = selector === undefined ? undefined : textsIn(selector)
  const find: Finder = (run, scope, max) => {
    const values =
      texts === undefined
        ? [scope.value === undefined ? run.source.json() : scope.value]
        : texts.find(run, scope, max).map((one) => ('text' in one ? parseJson(one.text) : undefined))
    return values
      .flatMap((value) => (value === undefined ? [] : query.all(value, max)))
      .map((value) => ({ json: value }))
  }
  return texts === undefined ? { find, needsTree: false } : { ...texts, find }
}

export function structuredFinder(field: JsonLdField | MicrodataField): MadeFinder {
  const type = 'jsonld' in field ? field.jsonld : field.microdata
  const query = field.path === undefined ? undefined : compileJsonPath(field.path)
  const find: Finder = ({ source }, _scope, max) => {
    const all = 'jsonld' in field ? source.jsonLd() : source.microdata()
    const objects = all.filter((object) => isOfType(object, type))
    const values = query === undefined ? objects : objects.flatMap((object) => query.all(object, max))
    return values.slice(0, max).map((json) => ({ json }))
  }
  return { find, needsTree: true }
}

export function metaFinder({ metatag }: MetaField): MadeFinder {
  const find: Finder = ({ tree }, _scope, max) =>
    metaOf(tree(), metatag)
      .slice(0, max)
      .map((text) => ({ text }))
  return { find, needsTree: true }
}

export const openGraphFinder: MadeFinder = {
  find: ({ tree }) => listOf(openGraphOf(tree())).map((json) => ({ json })),
  needsTree: true,
}

export function readableFinder({ readable }: ReadableField): MadeFinder {
  return {
    find: ({ source }) => listOf(source.readable().get(readable)).map((text) => ({ text })),
    needsTree: true,
  }
}
