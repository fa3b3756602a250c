/** Runs a schema on a page, within bounds of time and size. */

import { CrawlError } from '../../core/errors.ts'
import { runBounded } from '../../util/run-bounded.ts'
import type { Extracted, ExtractSchema } from './contract.ts'
import { planOf } from './plan.ts'
import type { ExtractSource } from './source.ts'

/** Milliseconds that one page may take: some are made to be slow, and so are some expressions. */
const EXTRACT_TIMEOUT_MS = 5000
/** Characters that one page may give. */
const MAX_RESULT_CHARS = 32 * 1024 * 1024

/** Throws CONFIG_INVALID for a schema that is none, EXTRACT_FAILED where the bounds are exceeded, PEER_MISSING. */
export function extractNow<const S extends ExtractSchema>(source: ExtractSource, schema: S, url: string): Extracted<S> {
  const plan = planOf(schema)
  let left = MAX_RESULT_CHARS
  const take = (chars: number): void => {
    left -= chars
    if (left < 0) throw failed(url, `expected at most ${String(MAX_RESULT_CHARS)} characters, found more`)
  }
  const run = { source, tree: () => source.tree(plan.hasPositions), take }
  const onTimeout = (): CrawlError =>
    failed(url, `expected to be done within ${String(EXTRACT_TIMEOUT_MS)} ms: simpler expressions take less`)
  return runBounded(() => plan.give(run, {}), EXTRACT_TIMEOUT_MS, onTimeout) as Extracted<S>
}

/** The same; others have their turn while the tree of a large page is built. */
export async function extract<const S extends ExtractSchema>(
  source: ExtractSource,
  schema: S,
  url: string,
): Promise<Extracted<S>> {
  if (planOf(schema).needsTree) await source.prepare()
  return extractNow(source, schema, url)
}

function failed(url: string, problem: string): CrawlError {
  return new CrawlError('EXTRACT_FAILED', { context: { url, problem } })
}
