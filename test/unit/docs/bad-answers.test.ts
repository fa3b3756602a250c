/** Each line of docs/bad-answers.md names a test that there is. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const text = readFileSync(join(root, 'docs/bad-answers.md'), 'utf8')
const rows = text.split('\n').filter((line) => line.startsWith('|') && !/^\| (?:what comes|-+) /.test(line))
const HEADINGS = ['Redirects', 'Cookies', 'HTTP as it is', 'TLS', 'Names and addresses', 'Proxies', 'Bodies', 'URLs']

describe('docs/bad-answers.md', () => {
  it('has lines for every kind of bad answer', () => {
    for (const heading of HEADINGS) expect(text).toContain(`## ${heading}\n`)
    expect(rows.length).toBeGreaterThan(60)
  })

  it.each(rows.map((row) => [row]))('is backed by the test that it names: %s', (row) => {
    const [, file = '', title = ''] = /`(test\/[\w/.-]+)`: `([^`]+)` *\|$/.exec(row) ?? []
    expect(existsSync(join(root, file)) && file !== '', 'the file').toBe(true)
    const source = readFileSync(join(root, file), 'utf8')
    expect(source.includes(`'${title}'`) || source.includes(`\`${title}\``), title).toBe(true)
  })
})
