/** What can be asked of the link graph of a crawl. */

import { formatGraph } from '../graph/formats.ts'
import type { GraphSource } from '../graph/contract.ts'
import { readPicture } from '../graph/picture.ts'
import { formatPicturePage } from '../graph/picture-page.ts'
import { formatReport } from '../graph/report.ts'
import { formatSvg } from '../graph/svg.ts'
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
    write: (format) => (format === 'svg' || format === 'html' ? draw(source, format) : formatGraph(source, format)),
  }
}

/** The layout weighs some: loaded when a picture is drawn. */
async function* draw(source: GraphSource, format: 'svg' | 'html'): AsyncGenerator<string> {
  const picture = await readPicture(source)
  const { layOut } = await import('../graph/layout.ts')
  const places = layOut({ depths: picture.dots.map(({ depth }) => depth), lines: picture.lines })
  yield* format === 'svg' ? formatSvg(picture, places) : formatPicturePage(picture, places)
}
