/** Whether two URLs are of one site: the same registrable domain, or the same host where there is none. */

import type * as SuffixList from 'tldts'
import { loadLate } from '../../util/load-late.ts'

const suffixList = loadLate<typeof SuffixList>('tldts')

export function isSameSite(a: string, b: string): boolean {
  return siteOf(a) === siteOf(b)
}

function siteOf(url: string): string {
  const { hostname } = new URL(url)
  return suffixList().getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
}
