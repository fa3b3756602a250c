/** Cookies between the crawl's jar and a page: in before it loads, what its scripts have set back when it is ready. */

import type { BrowserContext, Cookie } from 'playwright-core'
import type { CookieJars, JarCookie } from '../cookies.ts'
import { isSameSite } from './same-site.ts'

/** The browser then holds the cookies of the page's own site, and no others. */
export async function bringCookies(
  context: BrowserContext,
  jars: CookieJars,
  { session, url }: { readonly session: string; readonly url: string },
): Promise<readonly Cookie[]> {
  const wanted = jars.select(session, (domain) => isSameSite(`http://${asHost(domain)}/`, url))
  await context.clearCookies()
  if (wanted.length > 0) {
    try {
      await context.addCookies(wanted.map(asBrowserCookie))
    } catch {
      // one that Chromium does not take (a name with a blank): the others without it
      for (const cookie of wanted) {
        // oxlint-disable-next-line no-await-in-loop -- one by one is the point
        await context.addCookies([asBrowserCookie(cookie)]).catch(() => undefined)
      }
    }
  }
  return context.cookies()
}

/** Answers whether anything was new: a page that asks to be loaded again then gets another answer. */
export async function takeCookies(
  context: BrowserContext,
  jars: CookieJars,
  from: { readonly session: string; readonly url: string; readonly before: readonly Cookie[] },
): Promise<boolean> {
  const known = new Set(from.before.map(keyOf))
  // what answers have set is in the jar already; taking it again changes nothing
  const fresh = (await context.cookies()).filter((cookie) => !known.has(keyOf(cookie)))
  const fields = fresh
    .filter(({ domain }) => isSameSite(`http://${asHost(domain)}/`, from.url))
    .map((cookie) => [urlOf(cookie), asField(cookie)] as const)
  for (const [url, field] of fields) jars.receive(from.session, url, [field])
  return fields.length > 0
}

const asHost = (domain: string): string => {
  const name = domain.replace(/^\./, '')
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
}

function asBrowserCookie(cookie: JarCookie): Cookie {
  const { name, value, path, httpOnly, secure, hostOnly, domain, expiresMs, sameSite } = cookie
  const expires = expiresMs === undefined ? -1 : expiresMs / 1000
  // Chromium takes None from secure cookies alone
  const site = sameSite === 'None' && !secure ? 'Lax' : sameSite
  return { name, value, path, httpOnly, secure, expires, sameSite: site, domain: hostOnly ? domain : `.${domain}` }
}

function keyOf({ name, value, domain, path }: Cookie): string {
  return `${domain} ${path} ${name}=${value}`
}

function urlOf({ domain, path, secure }: Cookie): string {
  return `${secure ? 'https' : 'http'}://${asHost(domain)}${path}`
}

function asField({ name, value, domain, path, secure, httpOnly, sameSite, expires }: Cookie): string {
  const parts = [`${name}=${value}`, `Path=${path}`, `SameSite=${sameSite}`]
  if (domain.startsWith('.')) parts.push(`Domain=${domain.slice(1)}`)
  if (secure) parts.push('Secure')
  if (httpOnly) parts.push('HttpOnly')
  if (expires >= 0) parts.push(`Expires=${new Date(expires * 1000).toUTCString()}`)
  return parts.join('; ')
}
