/** `spoor graph`: the link graph as a file, or its figures. */

import { configError } from '../../config/given.ts'
import type { CrawlGraph } from '../../crawler/contract.ts'
import type { GraphFormat, Listed, Survey } from '../../graph/contract.ts'
import { formatCount } from '../../util/format.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { withReader } from '../reading.ts'
import { clean, columns, plural, tally } from '../text.ts'
import { writeResult } from '../write-result.ts'

const FORMATS = ['dot', 'graphml', 'csv', 'nodes.csv', 'svg', 'html'] as const satisfies readonly GraphFormat[]
/** Of each list on a terminal; and with --json. */
const SHOWN = 10
const LISTED = 1000

export async function runGraph(context: CommandContext): Promise<ExitCode> {
  const { options, output } = context
  const { output: file, stats } = options
  if (stats === (file !== undefined)) throw configError('expected either -o FILE or --stats; see spoor graph --help')
  if (file === '-' && output.json)
    throw configError('-o -: stdout cannot carry both the graph and the answer of --json')
  const format = file === undefined ? undefined : formatOf(file, options.format)
  await withReader(context, async (reader) => {
    const graph = await reader.graph()
    if (!graph.hasLinks) output.hint(NO_LINKS)
    if (file === undefined || format === undefined) await tellFigures(context, graph)
    else await writeGraph(context, graph, { file, format })
  })
  return EXIT.done
}

export const NO_LINKS =
  'no links were kept: crawl with --graph to have them; each URL is shown with the page it was first found on'

interface GraphFile {
  readonly file: string
  readonly format: GraphFormat
}

async function writeGraph(context: CommandContext, graph: CrawlGraph, { file, format }: GraphFile): Promise<void> {
  const { output } = context
  await writeResult(context, file, graph.write(format))
  if (output.json) await output.jsonLine({ file, format })
  else if (file !== '-') output.hint(`the graph is written to ${file}`)
}

function formatOf(file: string, given: string | undefined): GraphFormat {
  const name = given ?? /\.(nodes\.csv|[a-z]+)$/i.exec(file)?.[1]?.toLowerCase()
  const found = FORMATS.find((format) => format === name)
  if (found !== undefined) return found
  const said = given === undefined ? `a file that ends in it, or --format; found ${file}` : `found ${given}`
  throw configError(`the graph can be written as ${FORMATS.join(', ')}: expected ${said}`)
}

async function tellFigures({ output }: CommandContext, graph: CrawlGraph): Promise<void> {
  const survey = await graph.survey(output.json ? LISTED : SHOWN)
  if (output.json) await output.jsonLine(survey)
  else await output.result(figuresText(survey))
}

function figuresText(survey: Survey): string {
  const { task, nodes, links, hosts, states, statuses, depths } = survey
  const widest = formatCount(survey.mostLinked.list[0]?.links ?? 0).length
  const depthRows = depths.map((row) => [row.depth, row.known, row.done, row.failed].map(formatCount))
  return [
    `Graph of ${clean(task)}: ${plural(nodes, 'URL')}, ${plural(links, 'link')}, ${plural(hosts, 'host')}`,
    `states: ${tally(states)}; HTTP: ${tally(statuses)}`,
    '',
    ...columns([['depth', 'known', 'done', 'failed'], ...depthRows], new Set([0, 1, 2, 3])),
    ...section('linked most', survey.mostLinked, ({ url, links: from }) => [
      `${formatCount(from).padStart(widest)} ${clean(url)}`,
    ]),
    ...section('broken links', survey.broken, ({ url, reason, status, from }) => [
      `${clean(url)}: ${reason}${status === null ? '' : ` (${status})`}, linked from ${plural(from.count, 'page')}`,
      ...from.list.slice(0, 3).map((page) => `  on ${clean(page)}`),
    ]),
    ...section('orphans: known, and linked from nowhere', survey.orphans, ({ url, state }) => [
      `${state} ${clean(url)}`,
    ]),
    ...section('redirects', survey.redirects, (chain) => [chain.map(clean).join(' → ')]),
  ].join('\n')
}

function section<T>(title: string, { count, list }: Listed<T>, linesOf: (entry: T) => readonly string[]): string[] {
  if (count === 0) return []
  const more =
    count > list.length
      ? [`  and ${formatCount(count - list.length)} more; --json lists up to ${formatCount(LISTED)}`]
      : []
  return ['', `${title}: ${formatCount(count)}`, ...list.flatMap(linesOf).map((line) => `  ${line}`), ...more]
}
