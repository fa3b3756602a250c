/** The pages of a site whose addresses fit a regular expression, down to a depth. */

import { defineTask } from 'spoor'

export default defineTask({
  name: 'places',
  seeds: 'http://places.example/',
  maxDepth: 2,
  scope: { match: /\/(?:index|view)\// },
})
