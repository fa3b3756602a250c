/** Data taken out of pages by schemas: in handlers, judged by validators, and by --select. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { Crawler } from '../../src/crawler/crawler.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const html = (body: string) => ({ body, headers: { 'content-type': 'text/html' } })
const SHOP = {
  '/': html('<a href=/good>1</a><a href=/bad>2</a>'),
  '/good': html('<h1>Shoe</h1><p class=price>12,50 €</p>'),
  '/bad': html('<h1>Hat</h1><p class=price>on request</p>'),
}
const PRODUCT = { name: 'h1', price: { css: '.price', as: 'number' } } as const

it('fails a page whose data a validator does not take, and tells what is wrong', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(SHOP)
  const Product = z.object({ name: z.string(), price: z.number() })
  const found: z.infer<typeof Product>[] = []
  const crawler = new Crawler({
    dir: folder.path,
    requestHandler: async ({ request, page, enqueueLinks }) => {
      await enqueueLinks()
      if (request.depth === 0) return
      found.push(await page.extract(PRODUCT, { validate: Product }))
    },
  })
  expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 2, failed: 1 })
  expect(found).toEqual([{ name: 'Shoe', price: 12.5 }])
  const { stdout } = await runSpoor(['failures', '--dir', folder.path, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ url: site.url('/bad'), reason: 'handler' })
  expect(stdout).toMatch(/price: .*expected number/)
  expect(site.requestsFor('/bad')).toHaveLength(1)
})

it('drops and counts data that a validator does not take, when asked to', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(SHOP)
  const Product = v.object({ name: v.string(), price: v.number() })
  const crawler = new Crawler({
    dir: folder.path,
    requestHandler: async ({ request, page, enqueueLinks, pushData }) => {
      await enqueueLinks()
      if (request.depth === 0) return
      const product = await page.extract(PRODUCT, { validate: Product, onInvalid: 'drop' })
      if (product !== null) await pushData(product)
    },
  })
  expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 3, failed: 0, invalidItems: 1 })
  const { stdout } = await runSpoor(['export', '--dir', folder.path, '-o', '-'])
  expect(stdout).toBe('{"name":"Shoe","price":12.5}\n')
})

it('extracts by --select in every way, and refuses a field that cannot be looked for before anything is fetched', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(SHOP)
  const file = join(folder.path, 'items.jsonl')
  const selects = ['name=h1', 'price as number=.price', 'links[]=a@href', 'x=xpath://h1', 'word=re:<h1>(\\w)']
  const crawl = ['crawl', site.url('/'), '--dir', join(folder.path, 'data'), '-o', file]
  const wrong = await runSpoor([...crawl, '--select', 'a=a[', '--select', 'b=xpath://['])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toMatch(/the field a: expected a CSS selector.*the field b: expected an XPath/)
  expect(site.requestsFor('/')).toEqual([])
  const { code } = await runSpoor([...crawl, ...selects.flatMap((select) => ['--select', select])])
  expect(code).toBe(0)
  const items = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { fields: unknown })
  expect(items.map(({ fields }) => fields)).toEqual([
    { name: null, price: null, links: ['/good', '/bad'], x: null, word: null },
    { name: 'Shoe', price: 12.5, links: [], x: 'Shoe', word: 'S' },
    { name: 'Hat', price: null, links: [], x: 'Hat', word: 'H' },
  ])
})
