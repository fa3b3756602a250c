/** What people write to say which data they want of a page, and the types that come of it. */

import type { JsonObject, JsonValue } from '../../core/json.ts'

/**
 * What a text is turned into. `text`: white space folded (the default). `number`: the first number in it, with either
 * decimal mark. `integer`: the same, if it is whole. `boolean`: true, yes, on, 1 and their opposites. `date`: ISO 8601, of
 * what names its zone. `url`: absolute. `html`: markup inside the element. `json`: parsed. What cannot be turned is null.
 */
export type FieldType = 'text' | 'number' | 'integer' | 'boolean' | 'date' | 'url' | 'html' | 'json'

/** A function gets the text as it is, white space folded. */
export type Convert = FieldType | ((text: string) => unknown)

/** The first element that fits: its text, or the attribute after `@`. `:scope` and `@attr` alone are the element around it. */
export interface CssField {
  readonly css: string
  readonly as?: Convert
}

/** XPath 1.0; names of elements in any case. `//` begins at the document, `.//` at the element around it. */
export interface XPathField {
  readonly xpath: string
  readonly as?: Convert
}

/** The first match in the markup, or in the text of what `in` finds: its first group, or the whole of it. */
export interface RegexField {
  readonly regex: RegExp | string
  /** CSS[@attr]. */
  readonly in?: string
  readonly as?: Convert
}

/** JSONPath (RFC 9535) into the body, or into the text of what `in` finds. */
export interface JsonField {
  readonly json: string
  /** CSS[@attr]: an element that holds JSON. */
  readonly in?: string
  readonly as?: Convert
}

/** An object of JSON-LD by its `@type`; `*`: of any. */
export interface JsonLdField {
  readonly jsonld: string
  /** JSONPath into it. */
  readonly path?: string
  readonly as?: Convert
}

/** Microdata by the last part of its `itemtype`; `*`: of any. In the shape of JSON-LD. */
export interface MicrodataField {
  readonly microdata: string
  /** JSONPath into it. */
  readonly path?: string
  readonly as?: Convert
}

/** Content of the meta element with this name or property. */
export interface MetaField {
  readonly metatag: string
  readonly as?: Convert
}

/** All of OpenGraph as one object, without `og:`. What is there several times is a list. */
export interface OpenGraphField {
  readonly opengraph: true
}

/** The main content of the page, without what is around it. */
export interface ReadableField {
  readonly readable: 'text' | 'markdown' | 'html' | 'title' | 'byline' | 'excerpt'
}

/** An object for each element (CSS, `xpath:`) or value (`json:`, `jsonld:`, `microdata:`). */
export interface RowsField {
  readonly each: string
  readonly fields: ExtractSchema
}

/** An object of what is inside the first element or value; null when there is none. */
export interface GroupField {
  readonly within?: string
  readonly fields: ExtractSchema
}

export type OneField =
  | string
  | CssField
  | XPathField
  | RegexField
  | JsonField
  | JsonLdField
  | MicrodataField
  | MetaField
  | OpenGraphField
  | ReadableField
  | RowsField
  | GroupField

/** A list with one field in it: all that fits, not only the first. */
export type FieldSchema = OneField | readonly [OneField]

export interface ExtractSchema {
  readonly [name: string]: FieldSchema
}

interface TypeOf {
  readonly text: string
  readonly number: number
  readonly integer: number
  readonly boolean: boolean
  readonly date: string
  readonly url: string
  readonly html: string
  readonly json: JsonValue
}

type Converted<A> = A extends keyof TypeOf ? TypeOf[A] : A extends (text: string) => infer R ? R : never

type JsonShorthand = `json:${string}` | `jsonld:${string}` | `microdata:${string}`
type JsonSource = JsonField | JsonLdField | MicrodataField

type OneResult<F> = F extends JsonShorthand
  ? JsonValue
  : F extends 'opengraph:'
    ? JsonObject | null
    : F extends string
      ? string | null
      : F extends { readonly each: string; readonly fields: infer S }
        ? Extracted<S>[]
        : F extends { readonly within: string; readonly fields: infer S }
          ? Extracted<S> | null
          : F extends { readonly fields: infer S }
            ? Extracted<S>
            : F extends { readonly as: infer A }
              ? Converted<A> | null
              : F extends JsonSource
                ? JsonValue
                : F extends OpenGraphField
                  ? JsonObject | null
                  : string | null

type FieldResult<F> = F extends readonly [infer One] ? Exclude<OneResult<One>, null>[] : OneResult<F>

/** What a schema gives: a value for every name; null where the page has none. */
export type Extracted<S> = { -readonly [K in keyof S]: FieldResult<S[K]> }

/** What is wrong with a value, as Standard Schema has it. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A validator of any library that speaks Standard Schema (zod, valibot, arktype and others). */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }
