/** The links of a page for peers that leave their discovery to the user: htmlparser2's tokenizer, `<a href>` only. */

import { Parser } from 'htmlparser2'

/** Absolute, without fragment, on one of the seeds' hosts. */
export function linksOf(html, pageUrl, hosts) {
  const links = new Set()
  let base = pageUrl
  const parser = new Parser({
    onopentag(name, { href }) {
      if (href === undefined) return
      if (name === 'base') base = new URL(href, pageUrl).href
      if (name !== 'a' || !URL.canParse(href, base)) return
      const url = new URL(href, base)
      url.hash = ''
      if (hosts.has(url.host)) links.add(url.href)
    },
  })
  parser.end(html)
  return links
}

/** What the bench hands to each script: `{ seeds, concurrency, folder, durable }`. */
export function readJob() {
  const job = JSON.parse(process.argv[2])
  return { ...job, hosts: new Set(job.seeds.map((seed) => new URL(seed).host)) }
}
