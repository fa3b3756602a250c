/** The tables of the documentation and the sources they speak of name the same things. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CrawlError, errorCodes } from '../../../src/core/errors.ts'

const root = join(import.meta.dirname, '../../..')

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** The cells of every table row whose first cell is code. */
function rowsOf(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}

describe('docs/errors.md', () => {
  const rows = rowsOf(read('docs/errors.md'))

  it('lists every code once, and no other', () => {
    expect(rows.map(([code]) => code).toSorted()).toEqual([...errorCodes].toSorted())
  })

  it('says of each code whether trying again can help, as the table does', () => {
    const documented = Object.fromEntries(rows.map(([code, again]) => [code, again === 'yes']))
    expect(documented).toEqual(Object.fromEntries(errorCodes.map((code) => [code, new CrawlError(code).retryable])))
  })
})

describe('docs/dependencies.md', () => {
  const [runtime = '', development = ''] = read('docs/dependencies.md').split('## For development')
  const manifest = JSON.parse(read('package.json')) as Manifest

  it('gives a reason for each dependency, and for no other', () => {
    expect(rowsOf(runtime).map(([name]) => name)).toEqual(Object.keys(manifest.dependencies).toSorted())
    expect(rowsOf(development).map(([name]) => name)).toEqual(Object.keys(manifest.devDependencies).toSorted())
    for (const [name, why = ''] of rowsOf(runtime + development)) expect(why.length, name).toBeGreaterThan(3)
  })
})
