import { start } from '../../../scripts/services/mongodb.mjs'
import { freshUrl } from '../../support/mongodb.ts'
import { serviceUrl } from '../../support/services.ts'
import { serverRace } from './server-race.ts'

serverRace({ name: 'MongoDB', server: serviceUrl('MONGODB'), start, fresh: freshUrl, restartPages: 400 })
