/** Options of pages that are rendered in a browser. */

import { count, duration, list, optionalChoice, optionalFile, text, toggle } from '../option-row.ts'
import { parseChoice, parseRenderWait } from '../parse.ts'
import { CRAWL } from './commands.ts'

const MINUTE_MS = 60_000

/** Of what pages load beside themselves. */
const BLOCKABLE = ['image', 'font', 'media', 'stylesheet', 'script', 'data', 'nothing'] as const

export const RENDER = {
  render: optionalChoice({
    flag: 'render',
    choices: ['off', 'on', 'auto'],
    alone: 'on',
    default: 'off',
    group: 'Rendering',
    on: CRAWL,
    doc: 'Show pages to a browser, and take what their scripts make of them; `auto`: only pages that need it.',
  }),
  renderWait: text({
    flag: 'render-wait',
    placeholder: 'WHEN',
    default: 'networkidle',
    parse: parseRenderWait,
    group: 'Rendering',
    on: CRAWL,
    doc: 'When a page is ready: load, domcontentloaded, networkidle (half a second without a request) or selector:CSS.',
  }),
  renderTimeoutMs: duration({
    flag: 'render-timeout',
    default: 30_000,
    min: 1,
    max: 60 * MINUTE_MS,
    group: 'Rendering',
    on: CRAWL,
    doc: 'Time for a page to be ready, from the start of its loading.',
  }),
  renderBlock: list({
    flag: 'render-block',
    placeholder: 'KIND',
    parse: (raw) => parseChoice(raw, BLOCKABLE),
    group: 'Rendering',
    on: CRAWL,
    doc: `Do not load what pages ask for of this kind: ${BLOCKABLE.join(', ')}; by default image, font and media.`,
  }),
  renderPages: count({
    flag: 'render-pages',
    default: 4,
    min: 1,
    max: 100,
    group: 'Rendering',
    on: CRAWL,
    doc: 'Pages open in the browser of this process at the same time.',
  }),
  browser: optionalFile({
    flag: 'browser',
    group: 'Rendering',
    on: [...CRAWL, 'doctor'],
    doc: 'Render with this Chromium; by default the first one that is found on the machine.',
  }),
  screenshot: toggle({
    flag: 'screenshot',
    default: false,
    group: 'Rendering',
    on: CRAWL,
    doc: 'Keep a picture of each rendered page as a file in the data folder; its item names it.',
  }),
  pdf: toggle({
    flag: 'pdf',
    default: false,
    group: 'Rendering',
    on: CRAWL,
    doc: 'Keep a PDF of each rendered page as a file in the data folder; its item names it.',
  }),
} as const
