/** Judges what was extracted by a validator of the user's choice. */

import { CrawlError } from '../../core/errors.ts'
import type { SchemaIssue, StandardSchema } from './contract.ts'

/** Problems that are told of one value. */
const MAX_ISSUES = 10

/** The value as the validator gives it back. Throws ITEM_INVALID, which names what is wrong, where. */
export async function validate<Output>(schema: StandardSchema<Output>, value: unknown, url: string): Promise<Output> {
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  const problem = result.issues.slice(0, MAX_ISSUES).map(issueText).join('; ')
  throw new CrawlError('ITEM_INVALID', { context: { url, problem } })
}

function issueText({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
}
