/** What can be asked of the link graph of a crawl. */

import { formatGraph } from '../graph/formats.ts'
import { formatReport } from '../graph/report.ts'
import { surveyGraph } from '../graph/survey.ts'
import type { Store } from '../stores/contract.ts'
import type { CrawlGraph } from './contract.ts'
import { openGraph } from './read-graph.ts'

/** Of each list of the report. */
const REPORT_ROWS = 100

export async function openCrawlGraph(store: Store, task: string): Promise<CrawlGraph> {
  const source = await openGraph(store, task)
  return {
    hasLinks: source.hasLinks,
    survey: (max) => surveyGraph(source, max),
    report: async function* (facts) {
      yield* formatReport(await surveyGraph(source, REPORT_ROWS), facts)
    },
    write: (format) => formatGraph(source, format),
  }
}
