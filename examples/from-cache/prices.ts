/** The second idea, over the same pages: no request is sent. */

import { Crawler } from 'spoor'

export default new Crawler({
  cache: 'offline',
  tasks: [
    {
      name: 'prices',
      seeds: 'http://shop.example/',
      rules: [
        {
          match: '/item/*',
          handler: ({ page }) => page.extract({ name: 'h1', price: { css: '.price', as: 'number' } }),
        },
        { match: '/**', handler: ({ enqueueLinks }) => enqueueLinks() },
      ],
    },
  ],
})
