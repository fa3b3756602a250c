/** The thread that keeps an embedded store: what is written to the disk never holds up what is fetched. */

import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../core/clock.ts'
import { systemRandom } from '../../../util/random.ts'
import { openSqliteStore } from '../store.ts'
import { portOf } from './thread-port.ts'
import { serveStore } from './server.ts'
import { packFault } from './wire.ts'

export interface ThreadData {
  readonly dir: string
}

const { dir } = workerData as ThreadData
if (parentPort === null) throw new Error('expected to be started as a thread')
const port = portOf(parentPort)
try {
  const store = await openSqliteStore({ dir, clock: systemClock, random: systemRandom })
  const leave = (): Promise<void> =>
    store.close().finally(() => {
      port.keepAlive(false)
    })
  serveStore(Promise.resolve({ store, owner: store.owner, frontier: store.frontier, leave }), port)
  port.post([[0, 'open']])
} catch (error) {
  port.post([[0, undefined, packFault(error)]])
}
