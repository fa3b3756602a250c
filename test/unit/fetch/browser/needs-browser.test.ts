/** Which pages need a browser: told by their markup alone. */

import { describe, expect, it } from 'vitest'
import { type BrowserRule, ruleForBrowser } from '../../../../src/fetch/browser/needs-browser.ts'

const TEXT = '<p>' + 'Words that a reader reads. '.repeat(20) + '</p>'
const APP = '<script src="/static/main.js"></script>'

const PAGES: readonly (readonly [name: string, html: string, rule: BrowserRule | undefined])[] = [
  [
    'a React page',
    `<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>${APP}`,
    'noscript-notice',
  ],
  ['a Vue page', `<div id=app></div>${APP}`, 'empty-root'],
  ['an Angular page', `<body><app-root></app-root>${APP}`, 'empty-root'],
  ['a root with a comment and white space in it', `<div id='__next'> <!-- soon --> </div>${APP}`, 'empty-root'],
  ['a page of scripts', `<title>x</title><div class="page"></div>${APP}`, 'no-text'],
  ['a root that the server has filled', `<div id="__next">${TEXT}<a href="/a">a</a></div>${APP}`, undefined],
  [
    'a notice on a page that can be read',
    `<noscript>Enable JavaScript for comments</noscript>${TEXT}${APP}`,
    undefined,
  ],
  ['a short page with links', `<p>Moved</p><a href="/new">here</a>${APP}`, undefined],
  ['an empty page without scripts', '<div id="root"></div>', undefined],
  [
    'a page whose only script is data',
    '<div id="root"></div><script type="application/ld+json">{"@type":"x"}</script>',
    undefined,
  ],
  ['text in scripts and styles', `<style>${'a'.repeat(500)}</style><script>${'b'.repeat(500)}</script>`, 'no-text'],
  ['nothing', '', undefined],
  ['text with stray signs', `a < b ${TEXT} <`, undefined],
]

describe('a page', () => {
  it.each(PAGES)('%s', (_name, html, rule) => {
    expect(ruleForBrowser(html)).toBe(rule)
  })

  it('of hostile markup is read in time that grows with its length', () => {
    for (const piece of [
      '<',
      '<!--',
      '<script',
      '<div id="root">',
      '<script>',
      '</',
      '<noscript>javascript',
      '<a href="',
    ]) {
      ruleForBrowser(piece.repeat(200_000))
    }
  })
})
