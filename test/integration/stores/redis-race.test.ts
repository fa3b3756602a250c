import { randomUUID } from 'node:crypto'
import { start } from '../../../scripts/services/redis.mjs'
import { forgetStore } from '../../support/redis.ts'
import { serviceUrl } from '../../support/services.ts'
import { serverRace } from './server-race.ts'

serverRace({
  name: 'Redis',
  server: serviceUrl('REDIS'),
  start,
  fresh: async (server) => {
    const url = `${server}?prefix=race-${randomUUID()}:`
    return { url, drop: () => forgetStore(url) }
  },
  restartPages: 1500,
})
