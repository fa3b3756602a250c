/** Local copies of the sites that examples/ speak of, and the truth about each. */

import { treeSite } from '../../src/testing/site-shapes.ts'
import type { SiteAnswer, SiteHandler } from '../../src/testing/site-answer.ts'

/** `handler` answers for `host`; what a crawl of it must give. */
export interface ExampleSite {
  readonly host: string
  readonly handler: SiteHandler
  readonly truth: readonly Readonly<Record<string, unknown>>[]
}

const html = (body: string): SiteAnswer => ({
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8">${body}`,
})

const link = (href: string, text = href, attributes = ''): string => `<a ${attributes} href="${href}">${text}</a>`
const list = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index))
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const numberIn = (path: string): number => Number(/\d+/.exec(path)?.[0] ?? Number.NaN)

const page = (title: string, links: readonly string[]): SiteAnswer => ({ title, links })

/** A front page, `/index/N` and `/view/N` two levels deep that fit, `/edit/N` that does not, and a level that is too deep. */
export function placesSite(): ExampleSite {
  const origin = 'http://places.example'
  const INDEXES = 6
  const VIEWS = 10
  const fits = [
    { url: `${origin}/`, depth: 0 },
    ...list(INDEXES, (index) => ({ url: `${origin}/index/${index}`, depth: 1 })),
    ...list(INDEXES * VIEWS, (view) => ({ url: `${origin}/view/${view}`, depth: 2 })),
  ]
  return {
    host: 'places.example',
    truth: fits,
    handler: ({ path }) => {
      const number = numberIn(path)
      if (path === '/') return page('Places', [...list(INDEXES, (index) => `/index/${index}`), '/edit/0', '/login'])
      if (path.startsWith('/index/') && number < INDEXES)
        return page(`List ${number}`, [
          ...list(VIEWS, (view) => `/view/${number * VIEWS + view}`),
          '/',
          '/login?next=/index',
        ])
      if (path.startsWith('/view/') && number < INDEXES * VIEWS)
        return page(`Place ${number}`, [`/edit/${number}`, `/view/${number + 1000}`, `/index/${number % INDEXES}`])
      return path.startsWith('/robots.txt') ? undefined : page('Not for crawlers', ['/index/0'])
    },
  }
}

/** Names that a careless CSV breaks on. */
const COUNTRIES = [
  ['Aurelia', 'Port Aure', '1,204,300', '8,450,112'],
  ['Béloria', 'São Béu', '77,000', '1,020,000'],
  ['Isles of "Corr", The', 'Corrtown, North', '312.5', '9,014'],
  ['Dunmark & Vale', 'Dun', '43,094', '5,568,000'],
  ["Estr'a", "L'Este", '2,344,858', '70,916,439'],
  ['日向', '日向市', '244,820', '62,348,447'],
  ['=Fennia', '+Fen', '338,424', '5,244,000'],
  ['Γαλία', 'Λουτ', '10', '200'],
] as const

const row = (id: string, value: string): string => `<tr id=${id}><th>${id}<td>${value}`

/** `/index/N` lists three countries and leads on; `/view/N` has one as rows of a table. */
export function countriesSite(): ExampleSite {
  const PER_PAGE = 3
  const pages = Math.ceil(COUNTRIES.length / PER_PAGE)
  const neighboursOf = (country: number): number[] =>
    list(country % 3, (step) => (country + step + 1) % COUNTRIES.length)
  return {
    host: 'countries.example',
    truth: COUNTRIES.map(([name, capital, area, population], country) => ({
      name,
      capital,
      area: Number(area.replaceAll(',', '')),
      population: Number(population.replaceAll(',', '')),
      neighbours: neighboursOf(country).map((one) => COUNTRIES[one]?.[0]),
    })),
    handler: ({ path }) => {
      const number = numberIn(path)
      const country = path.startsWith('/view/') ? COUNTRIES[number] : undefined
      if (country !== undefined) {
        const [name, capital, area, population] = country.map(escape)
        const neighbours = neighboursOf(number).map((one) => link(`/view/${one}`, escape(COUNTRIES[one]?.[0] ?? '')))
        return html(
          `<title>${name}</title><table>${row('name', name ?? '')}${row('capital', capital ?? '')}${row('area', `${area} km²`)}` +
            `${row('population', population ?? '')}${row('neighbours', neighbours.join(', '))}</table>${link('/user/login')}`,
        )
      }
      if (!path.startsWith('/index/') || number >= pages) return undefined
      const here = list(PER_PAGE, (step) => number * PER_PAGE + step).filter((one) => one < COUNTRIES.length)
      const next = number + 1 < pages ? link(`/index/${number + 1}`, 'next') : ''
      return html(
        `<title>Countries</title>${here.map((one) => link(`/view/${one}`)).join(' ')}${next}${link('/user/login')}`,
      )
    },
  }
}

/** Any host: its front page. */
export const frontPages: SiteHandler = ({ host, path }) =>
  path === '/' ? { title: `The front of ${host}`, links: ['/more', 'http://elsewhere.example/'] } : undefined

/** A tree with links across, where order of arrival must not matter. */
export function treeExample(pages: number, delayMs = 0): ExampleSite {
  const shape = treeSite(pages, 5, { delayMs })
  return {
    host: 'tree.example',
    handler: shape.handler,
    truth: [...shape.depths].map(([path, depth]) => ({
      url: `http://tree.example${path}`,
      title: `Page ${path.slice(3)}`,
      depth,
    })),
  }
}

const GROUPS = ['announcements', 'help'] as const
const LISTS = 4
const TOPICS_PER_LIST = 5

const postsOf = (topic: number): { author: string; text: string }[] =>
  list(1 + (topic % 3), (post) => ({ author: `member ${post}`, text: `Words ${topic}.${post}, & so on` }))
const topicPage = (group: string, topic: number): SiteAnswer =>
  html(
    `<title>Forum</title><h1>${group} ${topic}</h1>` +
      postsOf(topic)
        .map(({ author, text }) => `<article><b class=author>${author}</b><p>${escape(text)}</p></article>`)
        .join(''),
  )
const listPage = (group: string, index: number): SiteAnswer => {
  const topics = list(TOPICS_PER_LIST, (step) => link(`/${group}/topic/${index * TOPICS_PER_LIST + step}`))
  const next = index + 1 < LISTS ? link(`/${group}/topics?page=${index + 1}`, 'older', 'class=next') : ''
  return html(`<title>${group}</title>${topics.join(' ')} ${link('/logout')} ${next}`)
}

/**
 * Lists of topics that lead from one to the next, for members only. Every twelfth topic is answered by 503 at first, and
 * one of each group for as long as the site `isIll`.
 */
export function forumSite(state: { isIll: boolean }): ExampleSite {
  return {
    host: 'forum.example',
    truth: GROUPS.flatMap((group) =>
      list(LISTS * TOPICS_PER_LIST, (topic) => ({
        url: `http://forum.example/${group}/topic/${topic}`,
        subject: `${group} ${topic}`,
        posts: postsOf(topic),
      })),
    ),
    handler: ({ path, headers, visit }) => {
      const group = GROUPS.find((name) => path.startsWith(`/${name}/`))
      if (group === undefined) return undefined
      if (headers.cookie !== 'session=member') return { status: 403, title: 'Members only' }
      if (path.startsWith(`/${group}/topics`)) return listPage(group, Number(path.split('page=')[1] ?? 0))
      const topic = numberIn(path)
      if (topic % 12 === 0 && visit === 1) return { status: 503, title: 'Busy', headers: { 'retry-after': '0' } }
      if (topic === 7 && state.isIll) return { status: 410, title: 'Gone for now' }
      return topic < LISTS * TOPICS_PER_LIST ? topicPage(group, topic) : undefined
    },
  }
}

const ITEMS = 12
const priceOf = (item: number): number => (item * 731 + 99) / 100

/** A shop of three shelves. */
export function shopSite(): ExampleSite {
  return {
    host: 'shop.example',
    truth: list(ITEMS, (item) => ({ name: `Thing ${item}`, price: priceOf(item) })),
    handler: ({ path }) => {
      const number = numberIn(path)
      if (path === '/') return { title: 'Shop', links: ['/shelf/0', '/shelf/1', '/shelf/2'] }
      if (path.startsWith('/shelf/'))
        return { title: `Shelf ${number}`, links: list(ITEMS / 3, (step) => `/item/${number * (ITEMS / 3) + step}`) }
      if (path.startsWith('/item/') && number < ITEMS)
        return html(
          `<title>Thing ${number} | Shop</title><h1>Thing ${number}</h1><p class=price>${priceOf(number).toFixed(2)} €</p>`,
        )
      return undefined
    },
  }
}
