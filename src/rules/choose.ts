/** Chooses the rule that takes a request: by label, then by URL, in the order in which the rules stand. */

import type { ChooseRule, RuleMatch } from './contract.ts'
import { createUrlTest, listOf } from './pattern.ts'

interface Candidate<R> {
  readonly rule: R
  readonly fits: (url: string) => boolean
}

/** Throws CONFIG_INVALID for a pattern that is none. */
export function createRuleChooser<R extends RuleMatch>(rules: readonly R[]): ChooseRule<R> {
  const labelled = new Map<string, Candidate<R>[]>()
  const plain: Candidate<R>[] = []
  for (const rule of rules) {
    const candidate = { rule, fits: createUrlTest(rule) }
    if (rule.label === undefined) plain.push(candidate)
    for (const label of listOf(rule.label)) labelled.set(label, [...(labelled.get(label) ?? []), candidate])
  }
  return ({ label, url }) => {
    const named = label === undefined ? undefined : labelled.get(label)
    return (named?.find(({ fits }) => fits(url)) ?? plain.find(({ fits }) => fits(url)))?.rule
  }
}
