/** One row for each country of a site that lists them in pages. */

import { defineTask } from 'spoor'

export default defineTask({
  name: 'countries',
  seeds: 'http://countries.example/index/0',
  rules: [
    {
      match: '/view/*',
      handler: ({ page }) =>
        page.extract({
          name: '#name td',
          capital: '#capital td',
          area: { css: '#area td', as: 'number' },
          population: { css: '#population td', as: 'integer' },
          neighbours: ['#neighbours a'],
        }),
    },
    { match: '/index/*', handler: ({ enqueueLinks }) => enqueueLinks({ match: ['/index/*', '/view/*'] }) },
  ],
})
