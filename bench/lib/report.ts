/** Figures of several runs, and the tables they are printed in. */

import type { Run } from './runs.ts'

export interface SpeedRow {
  readonly peer: string
  readonly version: string
  /** One a round. */
  readonly runs: readonly Run[]
}

export interface CrashRow {
  readonly peer: string
  readonly version: string
  readonly run: Run
}

export interface SiteResult {
  readonly site: string
  readonly pages: number
  readonly hosts: number
  /** The first is what the others are compared with. */
  readonly rows: readonly SpeedRow[]
  readonly crashes: readonly CrashRow[]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

export function speedTable({ site, pages, hosts, rows }: SiteResult): string {
  const reference = rows[0]
  if (reference === undefined) return ''
  const head = ['crawler', 'version', 'pages/s', `× ${reference.peer}`, 'CPU-ms/page', `× ${reference.peer}`]
  const cells = rows.map(({ peer, version, runs }) => [
    peer,
    version,
    String(Math.round(median(runs.map((run) => run.pagesPerSecond)))),
    ratio(runs, reference.runs, (run) => run.pagesPerSecond),
    median(runs.map((run) => run.cpuMsPerPage)).toFixed(3),
    ratio(runs, reference.runs, (run) => run.cpuMsPerPage),
    String(Math.round(median(runs.map((run) => run.measured.peakMiB)))),
    worst(runs, (run) => run.missing),
    worst(runs, (run) => run.repeats),
    `${runs.length}${runs.some(({ measured }) => measured.timedOut) ? ', ended early' : ''}`,
  ])
  const title = `\nSite ${site}: ${pages} pages on ${hosts} ${hosts === 1 ? 'host' : 'hosts'}\n\n`
  return title + markdown([...head, 'peak MiB', 'missing', 'repeated', 'runs'], cells)
}

export function crashTable({ site, crashes }: SiteResult): string {
  const cells = crashes.map(({ peer, version, run }) => [
    peer,
    version,
    String(run.missing),
    String(run.repeats),
    run.measured.timedOut ? 'never' : run.measured.seconds.toFixed(1),
    run.measured.code === null ? 'killed' : String(run.measured.code),
  ])
  const head = ['crawler', 'version', 'never fetched', 'fetched again', 'seconds to its end', 'exit status']
  return `\nSite ${site}, kill -9 half way, then started again\n\n${markdown(head, cells)}`
}

/** Of the runs of one round with each other: what slows a machine down slows both. */
function ratio(runs: readonly Run[], references: readonly Run[], figureOf: (run: Run) => number): string {
  const ratios = runs.flatMap((run, round) => {
    const reference = references[round]
    return reference === undefined ? [] : [figureOf(run) / figureOf(reference)]
  })
  return median(ratios).toFixed(2)
}

function worst(runs: readonly Run[], figureOf: (run: Run) => number): string {
  return String(Math.max(0, ...runs.map(figureOf)))
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, column) => (column < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return `${[line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n')}\n`
}
