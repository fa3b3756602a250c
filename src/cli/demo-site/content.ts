/** The pages of the demo site by their path: a shop, a blog, a handbook and people, made the same every time. */

import { escapeHtml, listOf, page, prose } from './page.ts'
import { AUTHORS, CHAPTERS, KINDS, pick, slug, TAGS, TRAITS } from './words.ts'

const PRODUCTS = 120
const PRODUCTS_A_PAGE = 12
const POSTS = 84
const POSTS_A_PAGE = 7
const SECTIONS = 4

type Pages = Map<string, string>

interface Named {
  readonly path: string
  readonly name: string
}

const product = (index: number): Named => {
  const name = `${pick(TRAITS, index, 'light')} ${pick(KINDS, Math.floor(index / TRAITS.length) + index, 'kettle')}`
  return { path: `/shop/${slug(name)}-${index}`, name: name.charAt(0).toUpperCase() + name.slice(1) }
}

const postMonth = (index: number): string => `2025/${String(1 + (index % 12)).padStart(2, '0')}`
const post = (index: number): Named => {
  const name = `Notes on ${pick(TAGS, index, 'trails')}, no. ${index + 1}`
  return { path: `/blog/${postMonth(index)}/${slug(name)}`, name }
}

const author = (index: number): Named => {
  const name = pick(AUTHORS, index, 'Ada Brandt')
  return { path: `/people/${slug(name)}`, name }
}

const link = ({ path, name }: Named): readonly [string, string] => [path, name]
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** Every ordinary page. The special answers are in `specials.ts`. */
export function createContent(): ReadonlyMap<string, string> {
  const pages: Pages = new Map()
  addFront(pages)
  addShop(pages)
  addBlog(pages)
  addPeople(pages)
  addHandbook(pages)
  return pages
}

function addFront(pages: Pages): void {
  const news = [
    ...range(4).map((index) => link(product(index * 7))),
    ...range(4).map((index) => link(post(index * 5))),
    ['/old-shop', 'The shop at its old address'],
    ['/welcome', 'A page behind a cookie'],
    ['/round/1', 'A signpost that points at itself'],
    ['/slow', 'A page that takes its time'],
    ['/shaky', 'A page that answers at the second try'],
    ['/gone', 'A page that is no longer there'],
    ['/ru/', 'По-русски'],
    ['/archive', 'The whole archive on one page'],
    ['/private/ledger', 'The ledger (robots keep out)'],
  ] as const
  pages.set('/', page({ title: 'Gear for slow travel', path: '/', body: `${prose(1, 2)}\n${listOf(news)}` }))
  pages.set(
    '/about',
    page({
      title: 'About us',
      path: '/about',
      body: `${prose(2, 3)}\n${listOf(range(AUTHORS.length).map((index) => link(author(index))))}<h2 id="contact">Contact</h2><p><a href="mailto:hello@fern-and-flint.test">Write</a> or <a href="tel:+4900000">call</a>.</p>`,
    }),
  )
  pages.set(
    '/hidden/only-in-the-sitemap',
    page({ title: 'Nothing links here', path: '/hidden/only-in-the-sitemap', body: prose(3, 2) }),
  )
  pages.set('/slow', page({ title: 'A page that takes its time', path: '/slow', body: prose(4, 2) }))
  pages.set('/shaky', page({ title: 'Better now', path: '/shaky', body: prose(5, 2) }))
  pages.set('/welcome', page({ title: 'Welcome back', path: '/welcome', body: prose(6, 1) }))
  pages.set('/private/ledger', page({ title: 'Ledger', path: '/private/ledger', body: prose(7, 1) }))
  const all = [
    ...range(PRODUCTS).map((index) => link(product(index))),
    ...range(POSTS).map((index) => link(post(index))),
  ]
  pages.set(
    '/archive',
    page({ title: 'The whole archive', path: '/archive', body: `${listOf(all)}\n${prose(8, 160)}` }),
  )
}

/** `?page=2` and so on, with rel next and prev as well. */
function addList(
  pages: Pages,
  list: { readonly path: string; readonly title: string; readonly items: readonly Named[]; readonly size: number },
): void {
  const count = Math.ceil(list.items.length / list.size)
  const pathOf = (index: number): string => (index === 0 ? list.path : `${list.path}?page=${index + 1}`)
  for (const index of range(count)) {
    const neighbours = [
      ...(index > 0 ? [{ rel: 'prev', path: pathOf(index - 1), name: 'Newer' }] : []),
      ...(index < count - 1 ? [{ rel: 'next', path: pathOf(index + 1), name: 'Older' }] : []),
    ]
    const items = list.items.slice(index * list.size, (index + 1) * list.size)
    pages.set(
      pathOf(index),
      page({
        title: index === 0 ? list.title : `${list.title}, page ${index + 1}`,
        path: pathOf(index),
        head: neighbours.map(({ rel, path }) => `<link rel="${rel}" href="${path}">\n`).join(''),
        body: `${listOf(items.map(link))}\n<p>${neighbours.map(({ path, name }) => `<a href="${path}">${name}</a>`).join(' ')}</p>`,
      }),
    )
  }
}

function addShop(pages: Pages): void {
  addList(pages, { path: '/shop/', title: 'Shop', items: range(PRODUCTS).map(product), size: PRODUCTS_A_PAGE })
  for (const index of range(PRODUCTS)) {
    const { path, name } = product(index)
    const price = (9 + ((index * 37) % 180) + 0.5).toFixed(2)
    // relative links, and the same page under a second name
    const near = [1, 2, 11].map((step) => product((index + step) % PRODUCTS))
    const body = `<p class="price" itemprop="price">${price} €</p>
<p>Size: <a href="?size=s">S</a> <a href="?size=l">L</a></p>
${prose(1_000 + index, 2)}
<h2>Goes well with</h2>
${listOf(near.map((one) => [`../shop/${one.path.slice('/shop/'.length)}#details`, one.name]))}`
    pages.set(path, page({ title: name, path, body }))
    for (const size of ['s', 'l'])
      pages.set(
        `${path}?size=${size}`,
        page({
          title: `${name}, size ${size.toUpperCase()}`,
          path,
          body: `<p class="price">${price} €</p>${listOf([[path, name]])}`,
        }),
      )
  }
}

function addBlog(pages: Pages): void {
  addList(pages, { path: '/blog/', title: 'Blog', items: range(POSTS).map(post), size: POSTS_A_PAGE })
  for (const index of range(POSTS)) {
    const { path, name } = post(index)
    const by = author(index)
    const tag = pick(TAGS, index, 'trails')
    const body = `<p>By <a href="${by.path}" rel="author">${escapeHtml(by.name)}</a> · <a href="/blog/tag/${tag}">${tag}</a> · <a href="/blog/${postMonth(index)}/">${postMonth(index)}</a></p>
${prose(2_000 + index, 5)}
<p>Elsewhere: <a href="https://example.com/?from=fern-and-flint" rel="noopener">a friend's site</a>.</p>
${listOf([link(product((index * 3) % PRODUCTS)), link(post((index + 1) % POSTS))])}`
    pages.set(path, page({ title: name, path, body }))
  }
  for (const [index, tag] of TAGS.entries())
    pages.set(
      `/blog/tag/${tag}`,
      page({
        title: `Posts on ${tag}`,
        path: `/blog/tag/${tag}`,
        body: listOf(
          range(POSTS)
            .filter((at) => at % TAGS.length === index)
            .map((at) => link(post(at))),
        ),
      }),
    )
  for (const month of new Set(range(12).map(postMonth)))
    pages.set(
      `/blog/${month}/`,
      page({
        title: `Posts of ${month}`,
        path: `/blog/${month}/`,
        head: `<base href="/blog/${month}/">\n`,
        body: listOf(
          range(POSTS)
            .filter((at) => postMonth(at) === month)
            .map((at) => [slug(post(at).name), post(at).name]),
        ),
      }),
    )
}

function addPeople(pages: Pages): void {
  for (const index of range(AUTHORS.length)) {
    const { path, name } = author(index)
    const posts = range(POSTS).filter((at) => at % AUTHORS.length === index)
    pages.set(
      path,
      page({ title: name, path, body: `${prose(3_000 + index, 2)}\n${listOf(posts.map((at) => link(post(at))))}` }),
    )
  }
}

/** Chapter by chapter, each section linked from the one before: the deep part of the site. */
function addHandbook(pages: Pages): void {
  const sections = CHAPTERS.flatMap((chapter) =>
    range(SECTIONS).map((index) => ({ path: `/docs/${chapter}/${index + 1}`, name: `${chapter}, ${index + 1}` })),
  )
  pages.set(
    '/docs/',
    page({ title: 'Handbook', path: '/docs/', body: listOf(CHAPTERS.map((chapter) => [`${chapter}/1`, chapter])) }),
  )
  for (const [index, { path, name }] of sections.entries()) {
    const next = sections[index + 1]
    const more = (index + 1) % SECTIONS === 0 || next === undefined ? [] : [link(next)]
    pages.set(
      path,
      page({
        title: name,
        path,
        body: `${prose(4_000 + index, 4)}\n<table><tr><td>${index}</td><td><a href=../../docs/>Contents</a></td></tr></table>\n${listOf(more)}`,
      }),
    )
  }
}
