// Runs a command with private PostgreSQL, Redis and MongoDB-protocol servers beside it: node scripts/services/with.mjs npm test
// What cannot be started is said aloud and left out; the tests that need it say so too. Exit status of the command.
import { spawn } from 'node:child_process'
import { start as startMongodb } from './mongodb.mjs'
import { start as startPostgres } from './postgres.mjs'
import { start as startRedis } from './redis.mjs'

const SERVICES = { POSTGRES: startPostgres, REDIS: startRedis, MONGODB: startMongodb }
const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.error('usage: node scripts/services/with.mjs COMMAND [ARG…]')
  process.exit(2)
}

const running = []
const env = { ...process.env }
for (const [name, start] of Object.entries(SERVICES)) {
  const variable = `SPOOR_TEST_${name}_URL`
  if (env[variable]) continue
  try {
    const service = await start()
    running.push(service)
    env[variable] = service.url
    console.error(`service ${name} is up`)
  } catch (error) {
    console.error(
      `MISSING ${name}: ${error instanceof Error ? error.message.split('\n')[0] : error}; nothing is tested on it`,
    )
  }
}

const child = spawn(command, args, { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
const code = await new Promise((resolve) => {
  child.once('error', (error) => {
    console.error(error.message)
    resolve(127)
  })
  child.once('exit', (status, signal) => resolve(signal === null ? status : 128))
})
for (const service of running.toReversed()) await service.stop().catch((error) => console.error(error.message))
process.exit(code ?? 1)
