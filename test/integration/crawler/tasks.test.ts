/** Many tasks in one run: what they share, and what each has of its own. */

import { expect, it } from 'vitest'
import { Crawler, defineTask, type Task } from '../../../src/index.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'
import { itemsOf, reasonOf } from './support.ts'

it('has a known-set, a depth, limits, headers and cookies for each', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/': { links: ['/a'] },
    '/a': { links: ['/b'] },
    '/b': { links: ['/c'] },
    '/c': {},
  })
  const tasks = [
    defineTask({ name: 'flat', seeds: site.url('/'), maxDepth: 1, headers: { 'X-Task': 'flat' } }),
    defineTask({ name: 'deep', seeds: () => [site.url('/')], cookies: { session: 'deep' } }),
    defineTask({
      name: 'two pages',
      seeds: [{ url: site.url('/'), userData: { first: true } }],
      limits: { maxPages: 2 },
      requestHandler: async ({ request, enqueueLinks, pushData }) => {
        await pushData({ path: new URL(request.url).pathname, ...request.userData })
        await enqueueLinks()
      },
    }),
    defineTask({
      name: 'no b',
      seeds: (async function* () {
        yield site.url('/')
      })(),
      scope: { match: '/**', exclude: '/b' },
    }),
  ]
  const crawler = new Crawler({ dir: folder.path, robots: false, cache: 'off', tasks })
  const summary = await crawler.run()
  expect(summary).toMatchObject({
    finishReason: 'max-pages',
    task: 'flat, deep, two pages, no b',
    pages: 10,
    failed: 0,
  })
  expect(summary.tasks?.map(({ task, pages }) => [task, pages])).toEqual([
    ['flat', 2],
    ['deep', 4],
    ['two pages', 2],
    ['no b', 2],
  ])
  expect(site.log.filter(({ headers }) => headers['x-task'] === 'flat')).toHaveLength(2)
  expect(site.log.filter(({ headers }) => headers.cookie === 'session=deep')).toHaveLength(4)
  expect(await itemsOf(folder.path, 'two pages')).toEqual([{ path: '/', first: true }, { path: '/a' }])
  expect(await reasonOf(folder.path, site.url('/b'), 'flat')).toBe('depth')
  expect(await reasonOf(folder.path, site.url('/b'), 'no b')).toBe('filtered')

  // what is done stays done, and a higher limit goes on
  site.clearLog()
  const more = tasks.map((task): Task => (task.name === 'two pages' ? { ...task, limits: { maxPages: 3 } } : task))
  const again = await new Crawler({ dir: folder.path, robots: false, cache: 'off', tasks: more }).run()
  expect(again.pages).toBe(11)
  expect(site.log.map(({ path }) => path)).toEqual(['/b'])
})

it('keeps the places of a host between all tasks', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': { delayMs: 5 } })
  const paths = Array.from({ length: 12 }, (_, index) => site.url(`/${index}`))
  const tasks = ['a', 'b', 'c'].map((name, priority) => defineTask({ name, seeds: paths, priority }))
  const crawler = new Crawler({ dir: folder.path, robots: false, cache: 'off', perHost: 2, tasks })
  expect(await crawler.run()).toMatchObject({ finishReason: 'finished', pages: 36 })
  expect(Math.max(...site.log.map(({ hostInFlight }) => hostInFlight))).toBeLessThanOrEqual(2)
})

it('gives places to the task of the highest priority first', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  const order: string[] = []
  const task = (name: string, priority: number): Task =>
    defineTask({
      name,
      priority,
      seeds: [1, 2, 3].map((n) => site.url(`/${name}/${n}`)),
      requestHandler: () => {
        order.push(name)
      },
    })
  const tasks = [task('low', -1), task('high', 2), task('middle', 0)]
  const options = { dir: folder.path, robots: false, maxConcurrency: 1 }
  // known before anything is leased
  await new Crawler({ ...options, tasks: tasks.map((one) => ({ ...one, limits: { maxTime: 0 } })) }).run()
  order.length = 0
  await new Crawler({ ...options, tasks }).run()
  expect(order.filter((name) => name === 'high').length).toBe(order.lastIndexOf('high') + 1)
  expect(order.at(-1)).toBe('low')
})

it('asks for pages of a finished task again when it reloads, and not otherwise', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  const tasks = [
    defineTask({ name: 'news', seeds: site.url('/news'), reload: true }),
    defineTask({ name: 'archive', seeds: site.url('/archive') }),
  ]
  for (let run = 0; run < 3; run++) await new Crawler({ dir: folder.path, robots: false, tasks }).run()
  expect(site.requestsFor('/news')).toHaveLength(3)
  expect(site.requestsFor('/archive')).toHaveLength(1)
})

it('uses the fetcher of a task for its pages', async () => {
  await using folder = await openTemporaryFolder()
  const asked: string[] = []
  const task = defineTask({
    name: 'recorded',
    seeds: 'https://example.com/',
    fetcher: {
      fetch: async ({ url, session }) => {
        asked.push(`${url} ${session ?? ''}`)
        return {
          kind: 'response',
          url,
          status: 200,
          headers: [['content-type', 'text/html']],
          body: Buffer.from('<title>Recorded</title>'),
          wireBytes: 10,
          truncated: false,
          timings: { headMs: 0, totalMs: 0 },
        }
      },
    },
  })
  await new Crawler({ dir: folder.path, robots: false, cache: 'off', tasks: [task] }).run()
  expect(asked).toEqual(['https://example.com/ recorded'])
  expect(await itemsOf(folder.path, 'recorded')).toMatchObject([{ title: 'Recorded' }])
})

it('tells all problems of all tasks at once', async () => {
  const tasks = [
    { name: 'a', maxDepht: 3, waitTime: '5 parsecs' },
    { name: 'a', seeds: 5, scope: { kind: 'everywhere' }, limits: { maxPages: 0 } },
    { seeds: 'https://example.com/', rules: [], requestHandler: () => undefined, headers: { 'a b': 'c' } },
    'https://example.com/',
  ] as unknown as Task[]
  await expect(new Crawler({ tasks }).run()).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: [
      '11 problems:',
      'a: maxDepht: no such field; did you mean maxDepth?',
      'a: waitTime: expected a duration such as 250ms, 1.5s, 2m, 1h or 30d, found "5 parsecs"',
      'a: seeds: expected a URL, a request { url, … }, many of them, or a function that answers them, found 5',
      'a: scope.kind: expected host, domain, prefix, any, found "everywhere"',
      'a: limits.maxPages: expected a whole number of 1 or more, found 0',
      'a: name: expected another one for each task, found "a"',
      'task 3: rules: expected a list of rules with at least one, or a router with a handler, found a list',
      'task 3: headers: expected names as HTTP has them, found "a b"',
      'task 3: name: expected a name, found nothing',
      'task 3: requestHandler: expected either rules or a requestHandler, found both',
      'task 4: expected an object as defineTask takes it, found "https://example.com/"',
    ].join('\n  '),
  })
})
