/** The peers that are npm packages: installed into a scratch folder, never into this project. */

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SOURCE = join(import.meta.dirname, '../peers')
const FOLDER = join(tmpdir(), 'spoor-bench-peers')

/** Puts the scripts beside the packages that they import. Answers what went wrong. */
export function installNpmPeers(): string | undefined {
  mkdirSync(FOLDER, { recursive: true })
  const wanted = readFileSync(join(SOURCE, 'package.json'), 'utf8')
  const installed = join(FOLDER, 'package.json')
  const current = existsSync(installed) && readFileSync(installed, 'utf8') === wanted
  for (const name of readdirSync(SOURCE)) copyFileSync(join(SOURCE, name), join(FOLDER, name))
  if (current && existsSync(join(FOLDER, 'node_modules'))) return undefined
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  const { status, stderr, error } = spawnSync('npm', args, { cwd: FOLDER, encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim().slice(-500))
}

export function scriptPath(script: string): string {
  return join(FOLDER, `${script}.mjs`)
}

export function versionOfPackage(name: string): string | undefined {
  const manifest = join(FOLDER, 'node_modules', name, 'package.json')
  if (!existsSync(manifest)) return undefined
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version
}
