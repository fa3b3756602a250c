/** A picture of the graph as a page of HTML that needs nothing else: moved, made larger, searched, and clicked. */

import { createHash } from 'node:crypto'
import { xmlText } from './formats.ts'
import type { Placed } from './layout.ts'
import type { Picture } from './picture.ts'
import { drawSvg, PICTURE_STYLE, titleOf } from './svg.ts'

const STYLE = `:root{color-scheme:light dark}body{margin:0;font:15px system-ui,sans-serif;background:#fff;color:#24292f}
form{position:fixed;top:.5rem;left:.5rem;display:flex;gap:.5rem;align-items:center}input{font:inherit;padding:.25rem .5rem;width:20rem}
svg{display:block;width:100vw;height:100vh;cursor:grab}.searched circle{opacity:.12}.searched circle.found{opacity:1;stroke:#0969da;stroke-width:3}
${PICTURE_STYLE}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}}`

/** Runs in the reader's browser. It reads text alone and writes none of it as markup. */
const SCRIPT = `'use strict'
const svg = document.querySelector('svg'), box = svg.viewBox.baseVal, told = document.querySelector('output')
const names = Array.from(svg.querySelectorAll('circle'), (dot) => [dot, (dot.firstElementChild?.textContent ?? '').toLowerCase()])
document.querySelector('input').addEventListener('input', (event) => {
  const wanted = event.target.value.trim().toLowerCase()
  svg.classList.toggle('searched', wanted !== '')
  let count = 0
  for (const [dot, name] of names) {
    const found = wanted !== '' && name.includes(wanted)
    dot.classList.toggle('found', found)
    if (found) count++
  }
  told.textContent = wanted === '' ? '' : count + ' found'
})
document.querySelector('form').addEventListener('submit', (event) => event.preventDefault())
const scale = () => Math.max(box.width / svg.clientWidth, box.height / svg.clientHeight)
svg.addEventListener('wheel', (event) => {
  event.preventDefault()
  const by = event.deltaY < 0 ? 0.8 : 1.25
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse())
  box.x = at.x - (at.x - box.x) * by
  box.y = at.y - (at.y - box.y) * by
  box.width *= by
  box.height *= by
}, { passive: false })
let moved = 0
svg.addEventListener('pointermove', (event) => {
  if (event.buttons !== 1) return
  moved += Math.abs(event.movementX) + Math.abs(event.movementY)
  box.x -= event.movementX * scale()
  box.y -= event.movementY * scale()
})
svg.addEventListener('pointerdown', () => { moved = 0 })
svg.addEventListener('click', (event) => { if (moved > 5) event.preventDefault() }, true)
svg.addEventListener('dragstart', (event) => event.preventDefault())
`

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export function* formatPicturePage(picture: Picture, places: readonly Placed[]): Generator<string> {
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${sourceOf(STYLE)}; script-src ${sourceOf(SCRIPT)}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${xmlText(titleOf(picture))}</title><style>${STYLE}</style></head>
<body><form role="search"><input type="search" placeholder="part of a URL, or a state" aria-label="Search"><output></output></form>
`
  yield* drawSvg(picture, places, '')
  yield `<script>${SCRIPT}</script></body></html>\n`
}
