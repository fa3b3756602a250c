import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clockFinding, nodeFinding } from '../../../src/cli/doctor/machine.ts'
import { driftFinding } from '../../../src/cli/doctor/web.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { runCommand } from './run-command.ts'

interface Finding {
  readonly check: string
  readonly level: string
  readonly found: string
  readonly advice?: string
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spoor-doctor-'))
  await writeFile(join(folder, 'file'), '')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function findingsOf(...argv: string[]): Promise<{ code: number; ok: boolean; by: Map<string, Finding> }> {
  const { code, stdout } = await runCommand(['doctor', '--json', ...argv], { cwd: folder })
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] }
  return { code, ok, by: new Map(findings.map((finding) => [finding.check, finding])) }
}

test('a machine that runs these tests is fit, a site is tried, and nothing is left in the folder', async () => {
  await using site = await openTestSite({ '/': { title: 'Home' } })
  const { code, ok, by } = await findingsOf(site.url('/'))
  expect({ code, ok }).toEqual({ code: 0, ok: true })
  const checks = [
    'node',
    'open files',
    'clock',
    'dns',
    'tls',
    'data folder',
    'disk',
    'sqlite',
    'browser',
    'store',
    'web',
  ]
  expect([...by.keys()]).toEqual(checks)
  expect(by.get('node')?.found).toBe(process.version)
  expect(by.get('sqlite')?.found).toMatch(/^3\./)
  expect(by.get('data folder')?.found).toMatch(/spoor-data can be made$/)
  expect(by.get('web')?.found).toContain(': 200')
  const text = await runCommand(['doctor'], { cwd: folder })
  expect(text.stdout).toMatch(/^ok {7}node/)
})

test('what a crawl cannot do without is a problem with advice, and exit status 1', async () => {
  const { code, ok, by } = await findingsOf('http://127.0.0.1:1/', '--dir', 'file/data', '--browser', '/none')
  expect({ code, ok }).toEqual({ code: 1, ok: false })
  for (const check of ['data folder', 'browser', 'web'])
    expect(by.get(check)).toMatchObject({ level: 'problem', advice: expect.any(String) as string })
  const store = await findingsOf('--store', 'postgres://me:secret@127.0.0.1:1/x')
  expect(store.by.get('store')).toMatchObject({
    level: 'problem',
    advice: expect.stringContaining('server runs') as string,
  })
  expect(JSON.stringify([...store.by])).not.toContain('secret')
})

test('an old Node.js and a wrong clock are told', () => {
  expect([nodeFinding('v20.18.9').level, nodeFinding('v20.19.0').level, nodeFinding('v24.1.0').level]).toEqual([
    'problem',
    'ok',
    'ok',
  ])
  expect(clockFinding(0).level).toBe('problem')
  const date = 'Mon, 30 Nov 2026 20:00:00 GMT'
  expect(driftFinding(date, Date.parse(date) - 600_000)).toMatchObject([
    { level: 'warning', found: "600 s from the server's" },
  ])
  expect([driftFinding(date, Date.parse(date)).length, driftFinding(undefined, 0).length]).toEqual([1, 0])
})
