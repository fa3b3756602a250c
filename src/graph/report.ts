/** A crawl as one page of HTML that needs nothing else: what a site's owner would want to know. */

import { formatBytes, formatCount, formatDuration } from '../util/format.ts'
import type { BrokenLink, Listed, PageSize, ReportFacts, Survey } from './contract.ts'
import { xmlText } from './formats.ts'
import { REPORT_STYLE, REPORT_STYLE_HASH } from './report-style.ts'

/** Pieces of the file. Everything that a page or a server has written is escaped, and no link is one to click by mistake. */
export function* formatReport(survey: Survey, facts: ReportFacts): Generator<string> {
  const title = `Crawl ${survey.task}`
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${REPORT_STYLE_HASH}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${xmlText(title)}</title><style>${REPORT_STYLE}</style></head>
<body><header><h1>${xmlText(title)}</h1>
<p>Written ${xmlText(facts.writtenAt)} by Spoor ${xmlText(facts.version)}</p></header><main>
`
  yield summary(survey)
  if (!survey.hasLinks)
    yield '<p class="note">The crawl kept no links: run it with <code>--graph</code> to see all pages that lead to each, the sizes and times of pages, and those with the same content. Below, each URL is shown with the page it was first found on.</p>\n'
  yield counts('HTTP status', survey.statuses, (status) => (status === '0' ? 'no answer' : status))
  yield depths(survey)
  yield counts('Not fetched, by reason', survey.skipped)
  yield section('Failures and broken links', survey.broken, { head: BROKEN_HEAD, rowOf: brokenRow })
  yield section('Redirects', survey.redirects, {
    head: ['hops', 'from, over, to'],
    rowOf: (chain) => [formatCount(chain.length - 1), steps(chain)],
  })
  yield section('Orphans: known, and no page leads there', survey.orphans, {
    head: ['state', 'URL'],
    rowOf: ({ url, state }) => [xmlText(state), link(url)],
  })
  yield section('Linked most', survey.mostLinked, {
    head: ['pages', 'URL'],
    rowOf: ({ url, links }) => [formatCount(links), link(url)],
  })
  yield section('Slowest pages', survey.slowest, { head: SIZE_HEAD, rowOf: sizeRow })
  yield section('Largest pages', survey.largest, { head: SIZE_HEAD, rowOf: sizeRow })
  yield section('Same content under several URLs', survey.duplicates, {
    head: ['pages', 'URLs'],
    rowOf: ({ count, urls }) => [formatCount(count), someOf({ count, list: urls })],
  })
  yield section('Pages without a title', survey.untitled, { head: ['URL'], rowOf: (url) => [link(url)] })
  yield section('Pages without a description', survey.undescribed, { head: ['URL'], rowOf: (url) => [link(url)] })
  yield '</main></body></html>\n'
}

function summary({ nodes, links, hosts, states }: Survey): string {
  const facts: readonly (readonly [string, number])[] = [
    ['URLs', nodes],
    ['fetched', states['done'] ?? 0],
    ['failed', states['failed'] ?? 0],
    ['not fetched', states['skipped'] ?? 0],
    ['waiting', (states['pending'] ?? 0) + (states['leased'] ?? 0)],
    ['links', links],
    ['hosts', hosts],
  ]
  const cells = facts.map(([name, count]) => `<div><dt>${name}</dt><dd>${formatCount(count)}</dd></div>`)
  return `<dl class="facts">${cells.join('')}</dl>\n`
}

function counts(
  title: string,
  of: Readonly<Record<string, number>>,
  nameOf: (key: string) => string = (key) => key,
): string {
  const entries = Object.entries(of)
  if (entries.length === 0) return ''
  return bars(
    title,
    entries.map(([key, count]) => ({ name: nameOf(key), count, note: '' })),
  )
}

function depths({ depths: rows }: Survey): string {
  return bars(
    'Depth: links from a seed',
    rows.map(({ depth, known, done, failed }) => ({
      name: String(depth),
      count: known,
      note: `${formatCount(done)} fetched, ${formatCount(failed)} failed`,
    })),
  )
}

interface Bar {
  readonly name: string
  readonly count: number
  readonly note: string
}

/** Levels that are shown: a trap may have thousands. */
const MAX_BARS = 60

function bars(title: string, all: readonly Bar[]): string {
  if (all.length === 0) return ''
  const most = Math.max(...all.map(({ count }) => count), 1)
  const rows = all
    .slice(0, MAX_BARS)
    .map(
      ({ name, count, note }) =>
        `<tr><th class="short" scope="row">${xmlText(name)}</th><td class="number">${formatCount(count)}</td>` +
        `<td class="bar"><meter min="0" max="${most}" value="${count}">${count}</meter></td><td>${xmlText(note)}</td></tr>`,
    )
  return `<section><h2>${title}</h2><table>${rows.join('\n')}</table>${moreOf(all.length - rows.length)}</section>\n`
}

interface Columns<T> {
  readonly head: readonly string[]
  /** HTML of the cells. */
  readonly rowOf: (entry: T) => readonly string[]
}

/** Nothing where there is nothing to tell. */
function section<T>(title: string, { count, list }: Listed<T>, { head, rowOf }: Columns<T>): string {
  if (count === 0) return ''
  const heads = head.map((name) => `<th scope="col">${name}</th>`).join('')
  const rows = list.map((entry) => `<tr>${rowOf(entry).map(cellOf).join('')}</tr>`)
  return `<section><h2>${title} <small>${formatCount(count)}</small></h2>
<table><thead><tr>${heads}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table>${moreOf(count - list.length)}</section>\n`
}

/** Numbers and single words take no more room than they need. */
function cellOf(html: string): string {
  return /^[\w.,-]{0,14}( [A-Za-z]{1,3})?$/.test(html) ? `<td class="short">${html}</td>` : `<td>${html}</td>`
}

function moreOf(count: number): string {
  return count > 0 ? `<p class="more">and ${formatCount(count)} more</p>` : ''
}

const BROKEN_HEAD = ['URL', 'what happened', 'tries', 'linked from']

function brokenRow({ url, reason, status, error, attempts, from }: BrokenLink): readonly string[] {
  const answer = status === null ? '' : ` (${status})`
  return [
    link(url),
    `<b>${xmlText(reason)}${answer}</b> ${xmlText(error.slice(0, MAX_ERROR_CHARS))}`,
    formatCount(attempts),
    someOf(from),
  ]
}

const MAX_ERROR_CHARS = 300
const SIZE_HEAD = ['time', 'size', 'URL']

function sizeRow({ url, bytes, ms }: PageSize): readonly string[] {
  return [ms === 0 ? '' : formatDuration(ms), formatBytes(bytes), link(url)]
}

function someOf({ count, list }: Listed<string>): string {
  return list.map((url) => link(url)).join('<br>') + moreOf(count - list.length)
}

const steps = (chain: readonly string[]): string => chain.map((url) => link(url)).join('<br>→ ')

const MAX_URL_CHARS = 300

/** The crawl fetched http and https alone; anything else is shown and not linked. */
function link(url: string): string {
  const text = xmlText(url.length > MAX_URL_CHARS ? `${url.slice(0, MAX_URL_CHARS)}…` : url)
  return /^https?:\/\//i.test(url) ? `<a href="${xmlText(url)}" rel="noreferrer nofollow">${text}</a>` : text
}
