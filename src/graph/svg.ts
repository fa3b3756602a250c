/** A picture of the graph as SVG: lines below, dots by what became of them above, each with its name. */

import { xmlText, type NodeClass } from './formats.ts'
import type { Placed } from './layout.ts'
import type { Dot, Picture } from './picture.ts'

const SIZE = 1600
const MARGIN = 60
/** Lines of one path: an element each would weigh ten times as much. */
const LINES_A_PATH = 2000

const COLOURS: Readonly<Record<NodeClass, string>> = {
  ok: '#2da44e',
  redirected: '#8250df',
  failed: '#d1242f',
  skipped: '#8c959f',
  waiting: '#bf8700',
  unmet: '#c4cbd2',
}

export const PICTURE_STYLE = `svg{background:#fff;font:14px system-ui,sans-serif}.l{stroke:#57606a;stroke-width:.6;fill:none}
text{fill:#24292f}${Object.entries(COLOURS)
  .map(([name, colour]) => `.${name}{fill:${colour}}`)
  .join('')}
@media (prefers-color-scheme:dark){svg{background:#0d1117}.l{stroke:#8b949e}text{fill:#e6edf3}}`

export function* formatSvg(picture: Picture, places: readonly Placed[]): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n'
  yield* drawSvg(picture, places, `<style>${PICTURE_STYLE}</style>`)
}

/** `head`: markup that stands before what is drawn. */
export function* drawSvg(picture: Picture, places: readonly Placed[], head: string): Generator<string> {
  const at = fitted(places)
  yield `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE + 60}">
<title>${xmlText(titleOf(picture))}</title>${head}
`
  yield `<g stroke-opacity="${opacityOf(picture.lines.length)}">\n`
  yield* paths(picture, at)
  yield '</g>\n'
  const scale = scaleOf(picture.dots.length)
  for (const [place, dot] of picture.dots.entries()) yield circle(dot, at[place], scale)
  yield legend(picture)
  yield '</svg>\n'
}

export function titleOf({ task, dots, lines, isGrouped, droppedDots, droppedLines }: Picture): string {
  const what = isGrouped ? 'hosts by level' : 'URLs'
  const dropped = droppedDots + droppedLines > 0 ? `; ${droppedDots} dots and ${droppedLines} lines are left out` : ''
  return `Crawl ${task}: ${dots.length} ${what}, ${lines.length} links${dropped}`
}

/** Scaled into the picture. The few that nothing holds and that drifted far stand at its edge. */
function fitted(places: readonly Placed[]): readonly Placed[] {
  const [left, right] = span(places.map(({ x }) => x))
  const [top, bottom] = span(places.map(({ y }) => y))
  const scale = (SIZE - 2 * MARGIN) / Math.max(right - left, bottom - top, 1e-9)
  const put = (value: number, middle: number): number =>
    round(Math.min(SIZE - MARGIN / 2, Math.max(MARGIN / 2, SIZE / 2 + (value - middle) * scale)))
  return places.map(({ x, y }) => ({ x: put(x, (left + right) / 2), y: put(y, (top + bottom) / 2) }))
}

/** Of all but one in a hundred at each end. */
const STRAYS = 0.01

function span(values: readonly number[]): readonly [from: number, to: number] {
  const sorted = values.toSorted((a, b) => a - b)
  const strays = Math.floor(sorted.length * STRAYS)
  return [sorted[strays] ?? 0, sorted.at(-1 - strays) ?? 0]
}

const round = (value: number): number => Math.round(value * 10) / 10

function* paths({ lines }: Picture, at: readonly Placed[]): Generator<string> {
  for (let from = 0; from < lines.length; from += LINES_A_PATH) {
    const steps = lines.slice(from, from + LINES_A_PATH).map(([a, b]) => {
      const [start, end] = [at[a], at[b]]
      return start === undefined || end === undefined ? '' : `M${start.x} ${start.y}L${end.x} ${end.y}`
    })
    yield `<path class="l" d="${steps.join('')}"/>\n`
  }
}

/** Of many dots each is smaller, and of many lines each is fainter: what stands out is where they meet. */
const scaleOf = (dots: number): number => Math.min(1, Math.max(0.3, Math.sqrt(2000 / dots)))
const opacityOf = (lines: number): number => round(100 * Math.min(0.25, Math.max(0.01, Math.sqrt(60 / lines)))) / 100

function circle(dot: Dot, at: Placed | undefined, scale: number): string {
  if (at === undefined) return ''
  const { label, url, count, class: kind, linkedFrom } = dot
  const many = count > 1 ? `: ${count} URLs` : ''
  const mark = `<circle class="${kind}" cx="${at.x}" cy="${at.y}" r="${round(radiusOf(dot) * scale)}"><title>${xmlText(label)}${many} (${kind}, linked from ${linkedFrom})</title></circle>`
  return /^https?:\/\//i.test(url) ? `<a href="${xmlText(url)}" rel="noreferrer">${mark}</a>\n` : `${mark}\n`
}

function radiusOf({ linkedFrom, count }: Dot): number {
  return 2 + Math.log2(1 + linkedFrom) * 0.8 + Math.log2(count) * 1.2
}

function legend(picture: Picture): string {
  const present = (Object.keys(COLOURS) as NodeClass[]).filter((kind) => picture.dots.some((dot) => dot.class === kind))
  const marks = present.map(
    (kind, place) =>
      `<circle class="${kind}" cx="${MARGIN + place * 130}" cy="${SIZE + 10}" r="6"/><text x="${MARGIN + 12 + place * 130}" y="${SIZE + 15}">${kind}</text>`,
  )
  return `${marks.join('')}<text x="${MARGIN - 6}" y="${SIZE + 42}">${xmlText(titleOf(picture))}</text>\n`
}
