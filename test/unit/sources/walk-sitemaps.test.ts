import { describe, expect, it } from 'vitest'
import { type SitemapAnswer, type WalkSitemapsOptions, walkSitemaps } from '../../../src/sources/walk-sitemaps.ts'
import { collect } from './collect.ts'

const index = (...urls: string[]): string =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>http://a.test${url}</loc></sitemap>`).join('')}</sitemapindex>`
const pages = (...urls: string[]): string =>
  `<urlset>${urls.map((url) => `<url><loc>http://a.test${url}</loc></url>`).join('')}</urlset>`

interface Site {
  readonly files: Readonly<Record<string, string>>
  readonly redirects?: Readonly<Record<string, string>>
}

async function walk(
  site: Site,
  options: Partial<WalkSitemapsOptions> = {},
): Promise<{ found: string[]; fetched: string[] }> {
  const fetched: string[] = []
  const fetch = async (url: string): Promise<SitemapAnswer> => {
    fetched.push(url.replace('http://a.test', ''))
    const path = new URL(url).pathname
    const target = site.redirects?.[path] ?? path
    const body = site.files[target]
    return body === undefined ? { problem: 'HTTP 404' } : { url: `http://a.test${target}`, body: Buffer.from(body) }
  }
  const finds = await collect(walkSitemaps({ roots: [{ url: 'http://a.test/s.xml' }], fetch, ...options }))
  const found = finds.map((find) => {
    if (find.kind === 'page') return find.entry.url.replace('http://a.test', '')
    if (find.kind === 'sitemap') return `sitemap ${find.url.replace('http://a.test', '')}`
    return `${find.isRoot ? '!!' : '!'} ${find.problem}`
  })
  return { found, fetched }
}

describe('walkSitemaps', () => {
  it('reads the sitemaps of an index in their order, and those of indexes in it', async () => {
    const files = {
      '/s.xml': index('/1.xml', '/2.xml'),
      '/1.xml': index('/3.xml'),
      '/2.xml': pages('/b'),
      '/3.xml': pages('/a'),
    }
    expect((await walk({ files })).found).toEqual(['/a', '/b'])
  })

  it('names the sitemaps of an index when they are not to be followed', async () => {
    const { found, fetched } = await walk({ files: { '/s.xml': index('/1.xml') } }, { follow: false })
    expect(found).toEqual(['sitemap /1.xml'])
    expect(fetched).toEqual(['/s.xml'])
  })

  it('reads each once, whatever lists it or leads to it', async () => {
    const files = { '/s.xml': index('/s.xml', '/1.xml', '/1.xml', '/old.xml'), '/1.xml': pages('/a') }
    const { found, fetched } = await walk({ files, redirects: { '/old.xml': '/s.xml' } })
    expect(found).toEqual(['/a'])
    expect(fetched).toEqual(['/s.xml', '/1.xml', '/old.xml'])
  })

  it('does not lose a sitemap to the failure of another, and tells a root from the rest', async () => {
    const files = { '/s.xml': index('/none.xml', '/1.xml'), '/1.xml': pages('/a') }
    expect((await walk({ files })).found).toEqual(['! HTTP 404', '/a'])
    expect((await walk({ files: {} })).found).toEqual(['!! HTTP 404'])
    expect((await walk({ files: { '/s.xml': '<html></html>' } })).found[0]).toMatch(/^!! it is no sitemap/)
    const partly = '<urlset><url><loc>mailto:x</loc></url><url><loc>http://a.test/a</loc></url></urlset>'
    expect((await walk({ files: { '/s.xml': partly } })).found).toEqual(['/a', expect.stringMatching(/^! 1 of its/)])
  })

  it('ends when indexes are nested without end, and says what it left', async () => {
    const files = new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, path: string) =>
          index(...Array.from({ length: 5 }, (_, child) => `${path.slice(0, -4)}${String(child)}.xml`)),
      },
    )
    const { found, fetched } = await walk({ files })
    expect(fetched).toHaveLength(1 + 5 + 25 + 125)
    expect(found).toEqual(['! 625 sitemaps are not read: indexes are nested deeper than 3'])
    const bounded = await walk({ files }, { limits: { maxSitemaps: 10, maxNesting: 100 } })
    expect(bounded.fetched).toHaveLength(10)
    expect(bounded.found).toEqual(['! the limit of 10 sitemaps is reached: the rest is not read'])
  })

  it('reads what is given beside what is to be fetched', async () => {
    const body = Buffer.from(index('/1.xml'))
    const { found } = await walk({ files: { '/1.xml': pages('/a') } }, { roots: [{ name: 'file.xml', body }] })
    expect(found).toEqual(['/a'])
  })

  it('fetches no more than is taken', async () => {
    const fetched: string[] = []
    const fetch = async (url: string): Promise<SitemapAnswer> => {
      fetched.push(url)
      return { url, body: Buffer.from(url.endsWith('/s.xml') ? index('/1.xml', '/2.xml') : pages('/a', '/b')) }
    }
    for await (const find of walkSitemaps({ roots: [{ url: 'http://a.test/s.xml' }], fetch })) {
      if (find.kind === 'page') break
    }
    expect(fetched).toEqual(['http://a.test/s.xml', 'http://a.test/1.xml'])
  })
})
