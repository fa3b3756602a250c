/** Items exported to a table of PostgreSQL: by the published contract, and over a kill. */

import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { postgresTable } from '../../../src/stores/postgres/table-export.ts'
import { exporterSuite } from '../../../src/testing/exporter-suite.ts'
import { treeSite } from '../../../src/testing/site-shapes.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder, startSpoor, untilRequests } from '../../support/command.ts'
import { serviceUrl } from '../../support/services.ts'

const server = serviceUrl('POSTGRES')
const url = server ?? ''
const table = `t${Date.now().toString(36)}_items`
const root = join(import.meta.dirname, '../../..')

async function query<Row extends object>(sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const program = (seed: string): string => `
import { Crawler } from 'spoor'
import { postgresTable } from 'spoor/postgres'
export default new Crawler({
  task: 'pages',
  robots: false,
  output: 'pages',
  exportFormat: postgresTable({ url: '${url}', table: '${table}' }),
})
// ${seed}
`

describe.skipIf(server === undefined)('items in a PostgreSQL table', () => {
  afterAll(async () => {
    if (server !== undefined) await query(`DROP TABLE IF EXISTS ${table}; DROP TABLE IF EXISTS ${table}_draft`)
  })

  exporterSuite({
    runner: { describe, it },
    format: postgresTable({ url, table }),
    read: async () => (await query<{ item: never }>(`SELECT item FROM ${table} ORDER BY seq`)).map(({ item }) => item),
    isRowOfBytes: false,
  })

  it('are there once each after kill -9, and the same command goes on', async () => {
    const shape = treeSite(300, 6)
    await using site = await openTestSite(shape.handler)
    await using folder = await openTemporaryFolder()
    await mkdir(join(folder.path, 'node_modules'))
    await symlink(root, join(folder.path, 'node_modules/spoor'))
    await writeFile(join(folder.path, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder.path, 'crawl.ts'), program(site.url(shape.seed)))
    const run = () => startSpoor(['run', 'crawl.ts', site.url(shape.seed), '--quiet'], { cwd: folder.path })
    for (const at of [60, 180]) {
      const killed = run()
      await untilRequests(site, at, killed)
      await killed.kill()
    }
    const end = await run().ended
    expect([end.stderr, end.code]).toEqual(['', 0])
    const found = await query<{ url: string }>(`SELECT item->>'url' AS url FROM ${table} ORDER BY seq`)
    expect(found.map((row) => row.url).toSorted()).toEqual(
      [...shape.depths.keys()].map((path) => site.url(path)).toSorted(),
    )
  }, 120_000)

  it('never take the place of a table that is somebody else’s', async () => {
    await query(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table}(mine int)`)
    await expect(postgresTable({ url, table }).open({ file: '/x/pages' })).rejects.toThrow('did not make')
    expect(() => postgresTable({ url, table: 'a; drop' })).toThrow(TypeError)
  })
})
