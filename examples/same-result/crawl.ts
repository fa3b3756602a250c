/** A whole site: what each page is called and how far it is from the first one. */

import { defineTask } from 'spoor'

export default defineTask({
  name: 'tree',
  seeds: 'http://tree.example/p/0',
  requestHandler: async ({ request, page, enqueueLinks }) => {
    await enqueueLinks()
    return { url: request.url, title: page.title, depth: request.depth }
  },
})
