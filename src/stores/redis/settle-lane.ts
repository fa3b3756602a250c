/** Settlements that come while a script runs are sent together in the next one. */

import type { SettleAnswer, Settlement } from '../../frontier/contract.ts'
import type { Random } from '../../util/random.ts'
import { encodeSettlements } from './encode.ts'
import type { Session } from './session.ts'

/** Settlements of one script: a few milliseconds of the server. */
const MOST_SETTLEMENTS = 128
/** The same for what they bring along: links and items count one each. */
const MOST_PARTS = 4000

interface Job {
  readonly settlements: readonly Settlement[]
  readonly resolve: (answers: readonly SettleAnswer[]) => void
  readonly reject: (error: unknown) => void
}

/** The first call is sent before this returns. */
export function createSettleLane(session: Session): (list: readonly Settlement[]) => Promise<readonly SettleAnswer[]> {
  const jobs: Job[] = []
  const spare: number[] = []
  let busy = false

  const send = async (settlements: readonly Settlement[]): Promise<SettleAnswer[]> => {
    const randoms = takeRandoms(spare, session.random, settlements)
    const reply = String(await session.write('settle', 'settle', encodeSettlements(settlements, randoms)))
    const used = Number(reply.slice(settlements.length))
    spare.unshift(...randoms.slice(used))
    return Array.from(reply.slice(0, settlements.length), (letter) => (letter === 's' ? 'settled' : 'lost'))
  }

  const sendBatch = async (batch: readonly Job[]): Promise<void> => {
    try {
      const answers = await send(batch.flatMap(({ settlements }) => settlements))
      let from = 0
      for (const { settlements, resolve } of batch) resolve(answers.slice(from, (from += settlements.length)))
    } catch (error) {
      const [only] = batch
      if (batch.length === 1) only?.reject(error)
      // only the guilty one fails in the end
      else for (const job of batch) await sendBatch([job])
    }
  }

  const drain = async (): Promise<void> => {
    busy = true
    while (jobs.length > 0) await sendBatch(takeBatch(jobs))
    busy = false
  }

  const enqueue = (settlements: readonly Settlement[]): Promise<readonly SettleAnswer[]> =>
    new Promise((resolve, reject) => {
      jobs.push({ settlements, resolve, reject })
      if (!busy) void drain()
    })

  return async (settlements) => {
    const answers = await Promise.all(chunksOf(settlements).map(enqueue))
    return answers.flat()
  }
}

/** As many as a backoff may ask for. What is not used is kept, so that the sequence has no gaps. */
function takeRandoms(spare: number[], random: Random, settlements: readonly Settlement[]): number[] {
  const throttled = settlements.filter(({ host }) => host.kind === 'throttled')
  return throttled.map(() => spare.shift() ?? random())
}

function takeBatch(jobs: Job[]): Job[] {
  const batch: Job[] = []
  let [count, parts] = [0, 0]
  for (let job = jobs[0]; job !== undefined; job = jobs[0]) {
    count += job.settlements.length
    parts += partsOf(job.settlements)
    if (batch.length > 0 && (count > MOST_SETTLEMENTS || parts > MOST_PARTS)) break
    batch.push(job)
    jobs.shift()
  }
  return batch
}

function chunksOf(settlements: readonly Settlement[]): (readonly Settlement[])[] {
  const chunks: Settlement[][] = []
  let chunk: Settlement[] = []
  let parts = 0
  for (const settlement of settlements) {
    const more = partsOf([settlement])
    if (chunk.length > 0 && (chunk.length >= MOST_SETTLEMENTS || parts + more > MOST_PARTS)) {
      chunks.push(chunk)
      chunk = []
      parts = 0
    }
    chunk.push(settlement)
    parts += more
  }
  if (chunk.length > 0) chunks.push(chunk)
  return chunks
}

function partsOf(settlements: readonly Settlement[]): number {
  return settlements.reduce((sum, { discovered, items }) => sum + discovered.length + items.length, 0)
}
