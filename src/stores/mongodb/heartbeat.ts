/** Signs of life of owners, beside the log: nobody decides about a lease by them. */

import type { Clock } from '../../core/clock.ts'
import type { Server } from './server.ts'

export interface Heartbeat {
  /** Beats once, and from then on again and again. */
  start(): Promise<void>
  stop(): void
  /** When each owner last beat; the server's clock. */
  all(): Promise<ReadonlyMap<string, number>>
  /** A beat that cannot be forgotten does no harm. */
  forget(owner: string): Promise<void>
}

const BEAT_EVERY_MS = 5000

export function createHeartbeat({
  server,
  clock,
  name,
}: {
  readonly server: Server
  readonly clock: Clock
  readonly name: string
}): Heartbeat {
  const beats = server.collection('beats')
  let cancel: (() => void) | undefined

  const beat = async (): Promise<void> => {
    const at = await server.timeMs()
    await server.ride(() => beats.updateMany({ _id: name }, { $max: { at } } as never, { upsert: true }))
  }
  const goOn = (): void => {
    cancel = clock.timer(BEAT_EVERY_MS, () => void beatAgain(), true)
  }
  const beatAgain = async (): Promise<void> => {
    await beat().catch(() => undefined)
    if (cancel !== undefined) goOn()
  }
  return {
    start: async () => {
      await beat()
      goOn()
    },
    stop: () => {
      cancel?.()
      cancel = undefined
    },
    all: async () => {
      const all = await server.ride(() => beats.find({}).toArray())
      return new Map(all.map(({ _id: id, ...raw }) => [id, (raw as { at?: number }).at ?? 0]))
    },
    forget: async (owner) => {
      await server.ride(() => beats.deleteMany({ _id: owner })).catch(() => undefined)
    },
  }
}
