/** What deploy/ holds is what Docker, Compose, Kubernetes and the command itself would accept. */

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DCLinter } from 'dclint'
import { validate as validateDockerfile } from 'dockerfile-utils'
import { Job } from 'kubernetes-models/batch/v1'
import type { IJob } from 'kubernetes-models/batch/v1'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { resolveOptions } from '../../../src/config/resolve.ts'
import { METRICS } from '../../../src/dashboard/metric-table.ts'
import { typeProblemsOf } from './type-problems.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DEPLOY = join(ROOT, 'deploy')
const JOB_TYPE = { name: 'IJob', from: 'kubernetes-models/batch/v1' }

function read(file: string): string {
  return readFileSync(join(DEPLOY, file), 'utf8')
}

/** Refused by the command: an unknown flag, an unknown SPOOR_ name, a bad value. */
async function understand([command, ...argv]: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  expect(['crawl', 'dashboard']).toContain(command)
  const { options } = await resolveOptions({ command: command as 'crawl', argv, env, cwd: ROOT })
  expect(options.store).toBeDefined()
}

describe('deploy/Dockerfile', () => {
  const dockerfile = read('Dockerfile')

  it('is what Docker understands', () => {
    expect(validateDockerfile(dockerfile)).toEqual([])
  })

  it('copies only what is there', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
    expect(readdirSync(ROOT)).toEqual(expect.arrayContaining(copied))
    expect(copied).toContain('package-lock.json')
  })

  it('brings the driver of every shared store, in a version that the package allows', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly peerDependencies: Readonly<Record<string, string>>
    }
    const installed = [...dockerfile.matchAll(/ (pg|ioredis|mongodb)@(\d+)/g)]
    expect(installed.map(([, name]) => name).toSorted()).toEqual(['ioredis', 'mongodb', 'pg'])
    for (const [, name = '', major = ''] of installed) expect(manifest.peerDependencies[name]).toContain(`^${major}.`)
  })
})

interface Compose {
  readonly services: Readonly<
    Record<
      'worker' | 'dashboard',
      { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> }
    >
  >
}

describe('deploy/compose.yaml', () => {
  it('is what Compose understands, in the usual order', () => {
    const results: readonly { readonly messages: readonly unknown[] }[] = new DCLinter({
      rules: {},
      quiet: true,
      debug: false,
      exclude: [],
    }).lintFiles([join(DEPLOY, 'compose.yaml')], false)
    expect(results).toHaveLength(1)
    expect(results.flatMap(({ messages }) => messages)).toEqual([])
  })

  it('starts a command that exists, with variables that exist', async () => {
    const { worker, dashboard } = (parse(read('compose.yaml')) as Compose).services
    const given = { SEED: 'https://example.com/', SPOOR_DB_PASSWORD: 'secret', SPOOR_DASHBOARD_TOKEN: 'long-enough' }
    const filled = (text: string): string =>
      text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (...[, name = '', kind, rest]: (string | undefined)[]) => {
        const value = (given as Readonly<Record<string, string>>)[name] ?? (kind === '-' ? rest : undefined)
        if (value === undefined) throw new Error(`${name} is not said to be needed`)
        return value
      })
    for (const { environment, command } of [worker, dashboard]) {
      const env = Object.entries(environment).map(([name, text]) => [name, filled(text)] as const)
      // oxlint-disable-next-line no-await-in-loop -- two
      await understand(command.map(filled), Object.fromEntries(env))
    }
  })
})

const SECRETS: Readonly<Record<string, string>> = {
  SPOOR_STORE: 'postgres://spoor:secret@database:5432/spoor',
  SPOOR_DASHBOARD_TOKEN: 'long-enough',
}

describe('deploy/kubernetes', () => {
  const [document, ...others] = parseAllDocuments(read('kubernetes/crawl.yaml'))
  const job = document?.toJS() as IJob

  it('holds one Job that Kubernetes would take, without a field that it does not know', () => {
    expect(others).toEqual([])
    expect(document?.errors).toEqual([])
    expect({ apiVersion: job.apiVersion, kind: job.kind }).toEqual({ apiVersion: 'batch/v1', kind: 'Job' })
    new Job(job).validate()
    expect(typeProblemsOf(job, JOB_TYPE)).toEqual([])
  })

  it('is held against the real schema: a misspelt field and a wrong type are found', () => {
    const misspelt = { ...job, spec: { ...job.spec, paralellism: 4 } }
    expect(typeProblemsOf(misspelt, JOB_TYPE).join()).toMatch(/paralellism.* does not exist in type 'IJobSpec'/)
    expect(() => {
      new Job({ ...job, spec: { ...job.spec, parallelism: '4' } } as unknown as IJob).validate()
    }).toThrow('must be integer')
  })

  it('starts a command that exists, with variables that exist', async () => {
    const [worker] = job.spec?.template.spec?.containers ?? []
    const env = Object.fromEntries((worker?.env ?? []).map(({ name, value }) => [name, value ?? SECRETS[name] ?? '']))
    await understand(worker?.args ?? [], env)
  })
})

describe('deploy/grafana', () => {
  it('asks for metrics that there are, and for no others', () => {
    const text = read('grafana/spoor.json')
    const asked = new Set([...text.matchAll(/\bspoor_[a-z_]+/g)].map(([name]) => name))
    const names = Object.values(METRICS).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([...asked]))
    expect((JSON.parse(text) as { readonly panels: readonly unknown[] }).panels.length).toBeGreaterThan(5)
  })
})
