/** Download caches that cannot be opened: one line that says why, exit status 3, and nothing of the credentials. */

import { describe, expect, it } from 'vitest'
import { runSpoor } from '../support/command.ts'
import { serviceUrl } from '../support/services.ts'

const SECRET = 'hunter2hunter2'

function changed(url: string | undefined, change: (url: URL) => void): string {
  const copy = new URL(url ?? 'none:')
  change(copy)
  return copy.href
}

const POSTGRES = serviceUrl('POSTGRES')
const REDIS = serviceUrl('REDIS')
const MONGODB = serviceUrl('MONGODB')

interface Refusal {
  readonly title: string
  /** Undefined: there is no such server here. */
  readonly url: string | undefined
  readonly says: RegExp
}

const at = (server: string | undefined, change: (url: URL) => void): string | undefined =>
  server === undefined ? undefined : changed(server, change)

const REFUSALS: readonly Refusal[] = [
  {
    title: 'a wrong password of PostgreSQL',
    url: at(POSTGRES, (url) => (url.password = SECRET)),
    says: /expected a user and a password that the server accepts/,
  },
  {
    title: 'a database that PostgreSQL does not have',
    url: at(POSTGRES, (url) => (url.pathname = '/nowhere')),
    says: /expected the database that the URL names, found that there is none/,
  },
  {
    title: 'TLS where PostgreSQL has none',
    url: at(POSTGRES, (url) => url.searchParams.set('sslmode', 'verify-full')),
    says: /expected a server that speaks TLS, as the URL asks for it/,
  },
  { title: 'nobody at the port', url: `postgres://u:${SECRET}@127.0.0.1:9/d`, says: /the connection is refused/ },
  {
    title: 'a database that Redis does not have',
    url: at(REDIS, (url) => (url.pathname = '/99')),
    says: /DB index is out of range/,
  },
  { title: 'nobody at the port of Redis', url: `redis://:${SECRET}@127.0.0.1:1`, says: /nothing listens/ },
  {
    title: 'TLS where the server of MongoDB has none',
    url: at(MONGODB, (url) => url.searchParams.set('tls', 'true')),
    says: /expected a server to answer there/,
  },
  {
    title: 'nobody at the port of MongoDB',
    url: `mongodb://u:${SECRET}@127.0.0.1:1/d`,
    says: /expected a server to answer there/,
  },
]

describe('spoor cache --store', () => {
  it.each(REFUSALS)(
    'with $title says so and exits with 3',
    async ({ url, says }) => {
      if (url === undefined) return
      const { code, stdout, stderr } = await runSpoor(['cache', 'ls', '--store', url])
      expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: '' })
      expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(says)])
      expect(stderr).not.toContain(SECRET)
    },
    60_000,
  )
})
