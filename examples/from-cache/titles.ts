/** The first idea: the titles of a shop's pages. Its downloads stay in the cache. */

import { defineTask } from 'spoor'

export default defineTask({
  name: 'titles',
  seeds: 'http://shop.example/',
  requestHandler: async ({ page, enqueueLinks }) => {
    await enqueueLinks()
    return { title: page.title }
  },
})
