/** What a round over known pages has found, in words. */

import type { RecrawlReport } from '../crawler/contract.ts'
import { formatCount } from '../util/format.ts'

export function findingsText(report: RecrawlReport): string {
  return (['new', 'changed', 'unchanged', 'gone'] as const)
    .map((finding) => `${formatCount(report[finding])} ${finding}`)
    .join(', ')
}
