/** Rules: which of them takes a request, told by its label and its URL. */

/** Anything that says whether a URL fits: a RegExp, a URLPattern. */
export interface UrlTest {
  test(url: string): boolean
}

/**
 * A glob, a regular expression, or anything with `test(url)` such as a URLPattern.
 *
 * A glob is compared with the whole URL when it begins with a scheme or `**`, and with the path when it begins with `/`;
 * the query takes part when the glob has a `?`. `*` stands for anything but `/`, `**` for anything, `**` and a slash also
 * for nothing, `{a,b}` for either; `?` stands for itself, and `\` takes the meaning from what follows.
 */
export type UrlPattern = string | UrlTest

/** What a rule takes. A rule with none of these takes everything. */
export interface RuleMatch {
  /** Requests with this label, or one of these. Default: with any label that no rule names, and with none. */
  readonly label?: string | readonly string[]
  /** URLs that fit one of these. Default: any. */
  readonly match?: UrlPattern | readonly UrlPattern[]
  /** But none that fits one of these. */
  readonly exclude?: UrlPattern | readonly UrlPattern[]
}

export interface RuleQuestion {
  readonly label: string | undefined
  readonly url: string
}

/**
 * Answers the rule that takes a request:
 * 1. of those that name its label, the first whose patterns fit;
 * 2. else of those that name no label, the first whose patterns fit;
 * 3. else undefined.
 */
export type ChooseRule<R> = (request: RuleQuestion) => R | undefined
