/** The front pages of the first thousand sites of a list of a million, as it is published: rank,domain in a zip. */

import { Crawler } from 'spoor'

export default new Crawler({
  task: 'top-sites',
  seedFiles: ['top-1m.csv.zip'],
  limit: 1000,
  maxConcurrency: 200,
  processes: 2,
  requestHandler: ({ request, response, page }) => ({
    url: request.url,
    status: response.status,
    title: page.title,
  }),
})
