/** Waiting for work: the server rings when something changes, and time does the rest. */

import type { Clock } from '../../core/clock.ts'
import type { LeaseOptions } from '../../frontier/contract.ts'
import { createBell } from '../../frontier/wait-for-work.ts'
import type { Bell, Outlook } from '../../frontier/wait-for-work.ts'
import type { RedisClient } from './driver.ts'
import type { OwnerWatch } from './owners.ts'
import type { Session } from './session.ts'

export interface ServerBell extends Bell {
  /** Grows with every ring. */
  readonly rings: number
  /** Begins to listen to the server, once; rings when it does. Until then, and where it cannot, time alone wakes. */
  listen(): void
  close(): void
}

export function createServerBell(clock: Clock, connect: () => RedisClient, channel: string): ServerBell {
  const bell = createBell(clock)
  let client: RedisClient | undefined
  let rings = 0
  const ring = (): void => {
    rings++
    bell.ring()
  }
  const start = async (): Promise<void> => {
    client = connect()
    client.on('message', ring)
    // What happened while the connection was gone was not heard.
    client.on('ready', ring)
    try {
      await client.connect()
      await client.subscribe(channel)
      ring()
    } catch {
      // It goes on trying by itself; until then nobody waits longer than the longest wait.
    }
  }
  return {
    get waiting() {
      return bell.waiting
    },
    get rings() {
      return rings
    },
    ring,
    next: (withinMs, signal) => bell.next(withinMs, signal),
    listen: () => {
      if (client === undefined) void start()
    },
    close: () => {
      client?.disconnect()
    },
  }
}

type Scope = Omit<LeaseOptions, 'max' | 'leaseMs'>

/** Nobody waits longer than this without looking: a lost wake-up costs a second, not the crawl. */
const LONGEST_WAIT_MS = 1000
/** After an abort, an answer that is on its way is waited for so long. */
const LAST_LOOK_MS = 500

export interface WaitParts {
  readonly session: Session
  readonly bell: ServerBell
  readonly owners: OwnerWatch
}

export async function waitForWork(
  { session, bell, owners }: WaitParts,
  scope: Scope,
  signal: AbortSignal,
): Promise<'ready' | 'finished' | 'aborted'> {
  const { clock } = session
  bell.listen()
  for (;;) {
    if (signal.aborted) return 'aborted'
    const { rings } = bell
    const askedMs = clock.monotonicMs()
    const looking = look(session, scope)
    const outlook = await unlessAborted(looking, clock, signal)
    if (outlook === undefined) return 'aborted'
    if (outlook.kind !== 'wait') return outlook.kind
    if (signal.aborted) return 'aborted'
    if (await owners.someoneDied()) return 'ready'
    // What changed since the look began may have been missed by it.
    if (bell.rings !== rings) continue
    const sinceMs = clock.monotonicMs() - askedMs
    const inMs = Math.min((outlook.inMs ?? LONGEST_WAIT_MS) - sinceMs, LONGEST_WAIT_MS)
    await bell.next(Math.max(1, Math.ceil(inMs)), signal)
  }
}

async function look(session: Session, { tasks, pageLimit, maxSilent }: Scope): Promise<Outlook> {
  const args = [String(tasks.length), ...tasks, String(pageLimit ?? ''), String(maxSilent ?? '')]
  const [kind, inMs = ''] = await session.ask('look', args)
  if (kind !== 'wait') return { kind: kind === 'finished' ? 'finished' : 'ready' }
  return inMs === '' ? { kind: 'wait' } : { kind: 'wait', inMs: Number(inMs) }
}

/** Undefined: aborted, and the answer did not come soon after. Leaves no timer or listener behind. */
async function unlessAborted<T>(promise: Promise<T>, clock: Clock, signal: AbortSignal): Promise<T | undefined> {
  const over = new AbortController()
  const aborted = new Promise<undefined>((resolve) => {
    const leave = (): void => {
      const cancel = clock.timer(LAST_LOOK_MS, () => {
        resolve(undefined)
      })
      over.signal.addEventListener('abort', cancel, { once: true })
    }
    signal.addEventListener('abort', leave, { once: true, signal: over.signal })
  })
  promise.catch(() => undefined)
  try {
    return await Promise.race([promise, aborted])
  } finally {
    over.abort()
  }
}
