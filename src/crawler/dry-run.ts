/** What a run would do with its seeds: judged as the door judges them, without a request and without a store. */

import type { JsonObject } from '../core/json.ts'
import type { RequestDraft } from '../engine/contract.ts'
import type { SeedEntry, Seeds } from '../engine/feed.ts'
import { createRuleChooser } from '../rules/choose.ts'
import { canonicalOf, parseHttpUrl } from '../url/canonical.ts'
import type { LaunchTask } from './launch-options.ts'
import { nameOfRule } from './routes.ts'

/** Shown of each task; a source may go on for ever. */
const MAX_SEEDS = 1_000

export interface DrySeed extends JsonObject {
  readonly url: string
  readonly verdict: 'fetch' | 'skip'
  /** Of a skip. */
  readonly reason: string | null
  /** The rule that would take it; null: none, and it would fail. */
  readonly rule: string | null
}

export interface DryRun extends JsonObject {
  readonly task: string
  /** By name, in the order in which they are asked. */
  readonly rules: readonly string[]
  readonly seeds: readonly DrySeed[]
  /** There are more seeds than are shown. */
  readonly more: boolean
}

/** Seeds of files and sitemaps are not looked at. Rejects with what a source of seeds threw. */
export async function dryRun(tasks: readonly LaunchTask[]): Promise<readonly DryRun[]> {
  return Promise.all(tasks.map(judgeTask))
}

async function judgeTask({ options, rules, handler, seeds }: LaunchTask): Promise<DryRun> {
  const choose = createRuleChooser(rules ?? [])
  const fallback = handler.kind === 'user' ? 'requestHandler' : 'page record'
  const ruleOf = (url: string, label: string | undefined): string | null => {
    if (rules === undefined) return fallback
    const rule = choose({ url, label })
    return rule === undefined ? null : nameOfRule(rule)
  }
  const seen = new Set<string>()
  const judge = (entry: SeedEntry): DrySeed => {
    const draft = draftOf(entry)
    if (draft === undefined) return skipped(JSON.stringify(entry), 'invalid-url')
    const parsed = parseHttpUrl(draft.url, { maxUrlBytes: options.maxUrlBytes })
    if (!parsed.ok) return skipped(draft.url, `${parsed.reason}: ${parsed.problem}`)
    const canonical = canonicalOf(parsed.url)
    if (seen.has(canonical)) return skipped(parsed.url, 'duplicate')
    seen.add(canonical)
    return { url: parsed.url, verdict: 'fetch', reason: null, rule: ruleOf(parsed.url, draft.label) }
  }
  const { taken, more } = await firstOf(seeds)
  return { task: options.task, rules: (rules ?? []).map(nameOfRule), seeds: taken.map(judge), more }
}

function draftOf(entry: SeedEntry): RequestDraft | undefined {
  if (typeof entry === 'string') return { url: entry }
  return 'problem' in entry ? undefined : entry
}

const skipped = (url: string, reason: string): DrySeed => ({ url, verdict: 'skip', reason, rule: null })

async function firstOf(seeds: Seeds): Promise<{ readonly taken: readonly SeedEntry[]; readonly more: boolean }> {
  const taken: SeedEntry[] = []
  for await (const entry of seeds) {
    if (taken.length === MAX_SEEDS) return { taken, more: true }
    taken.push(entry)
  }
  return { taken, more: false }
}
