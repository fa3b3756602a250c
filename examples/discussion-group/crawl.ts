/** Two groups of a forum that shows itself to members: their topics, newest lists first, and who wrote how much. */

import { defineTask, type Rule, type Task } from 'spoor'

const rules: readonly Rule[] = [
  {
    match: '/*/topics',
    handler: async ({ enqueueLinks }) => {
      await enqueueLinks({ match: '/*/topic/*', priority: 1 }) // what is new on a list is read before the next list
      await enqueueLinks({ selector: 'a.next' })
    },
  },
  {
    match: '/*/topic/*',
    retries: 3,
    handler: async ({ request, page }) => ({
      url: request.url,
      ...(await page.extract({
        subject: 'h1',
        posts: { each: 'article', fields: { author: '.author', text: 'p' } },
      })),
    }),
  },
]

const group = (name: string, priority: number): Task =>
  defineTask({
    name,
    seeds: `http://forum.example/${name}/topics`,
    cookies: { session: 'member' },
    waitTime: '1s',
    priority,
    rules,
    reload: false, // run again when it is at its end, it tries what failed
  })

export default [group('announcements', 1), group('help', 0)]
