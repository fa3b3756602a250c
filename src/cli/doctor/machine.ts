/** Node, the limits of the process, the clock, names and certificates, as this process has them. */

import { execFile } from 'node:child_process'
import { getServers, promises as dns } from 'node:dns'
import { access, readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { rootCertificates } from 'node:tls'
import { promisify } from 'node:util'
import { version, versions } from 'node:process'
import type { CliHost } from '../host.ts'
import { type Finding, reasonOf } from './finding.ts'

/** The least that package.json asks for. */
const LEAST_NODE = [20, 19] as const
/** A request in flight takes one, and so do the files of the store. */
const ENOUGH_FILES = 4096
/** This program was written after it. */
const SURELY_PAST_MS = Date.UTC(2025, 0, 1)

export async function machineFindings(host: CliHost): Promise<readonly Finding[]> {
  return [
    nodeFinding(version),
    await filesFinding(),
    clockFinding(host.clock.nowMs()),
    await namesFinding(),
    await rootsFinding(host),
  ]
}

export function nodeFinding(found: string): Finding {
  const [major = 0, minor = 0] = found.replace('v', '').split('.').map(Number)
  const isEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
  if (isEnough) return { check: 'node', level: 'ok', found }
  return { check: 'node', level: 'problem', found, advice: `install Node.js ${LEAST_NODE.join('.')} or later` }
}

async function filesFinding(): Promise<Finding> {
  const limit = await openFileLimit()
  const check = 'open files'
  if (limit === undefined) return { check, level: 'ok', found: 'no limit is known' }
  const found = `${limit === Infinity ? 'no limit' : limit} for this process`
  if (limit >= ENOUGH_FILES) return { check, level: 'ok', found }
  return {
    check,
    level: 'warning',
    found,
    advice: `raise it for many requests at once: ulimit -n ${ENOUGH_FILES * 16}, or LimitNOFILE of the service`,
  }
}

/** Of this process: Node raises its own to what the system allows. */
async function openFileLimit(): Promise<number | undefined> {
  if (platform() === 'win32') return undefined
  try {
    const limits = await readFile('/proc/self/limits', 'utf8')
    return numberOf(/^Max open files\s+(\S+)/m.exec(limits)?.[1])
  } catch {
    // no Linux: what a shell is given
    const said = await promisify(execFile)('sh', ['-c', 'ulimit -n'], { timeout: 5000 }).catch(() => undefined)
    return numberOf(said?.stdout.trim())
  }
}

function numberOf(text: string | undefined): number | undefined {
  if (text === 'unlimited') return Infinity
  const number = Number(text)
  return text === undefined || Number.isNaN(number) ? undefined : number
}

export function clockFinding(nowMs: number): Finding {
  const found = new Date(nowMs).toISOString()
  if (nowMs >= SURELY_PAST_MS) return { check: 'clock', level: 'ok', found }
  return { check: 'clock', level: 'problem', found, advice: 'set the clock: certificates and cookies are judged by it' }
}

async function namesFinding(): Promise<Finding> {
  const check = 'dns'
  try {
    const { address } = await dns.lookup('localhost')
    const servers = getServers()
    if (servers.length > 0) return { check, level: 'ok', found: `servers ${servers.slice(0, 4).join(', ')}` }
    return {
      check,
      level: 'warning',
      found: `no name servers; localhost is ${address}`,
      advice: 'see /etc/resolv.conf',
    }
  } catch (error) {
    return {
      check,
      level: 'problem',
      found: `localhost does not resolve: ${reasonOf(error)}`,
      advice: 'see /etc/hosts and /etc/resolv.conf',
    }
  }
}

async function rootsFinding({ env }: CliHost): Promise<Finding> {
  const check = 'tls'
  const found = `${rootCertificates.length} authorities, OpenSSL ${versions.openssl}`
  const extra = env['NODE_EXTRA_CA_CERTS'] ?? ''
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    return {
      check,
      level: 'warning',
      found: 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set',
      advice: 'unset it; --ca-file FILE trusts one more authority',
    }
  if (rootCertificates.length === 0)
    return {
      check,
      level: 'problem',
      found: 'no authorities',
      advice: 'install a Node.js that has them, or give them with --ca-file FILE',
    }
  if (extra === '') return { check, level: 'ok', found }
  return access(extra).then(
    () => ({ check, level: 'ok', found: `${found}, and those of ${extra}` }),
    () => ({
      check,
      level: 'warning',
      found: `NODE_EXTRA_CA_CERTS names ${extra}, which cannot be read`,
      advice: 'correct it, or unset it',
    }),
  )
}
