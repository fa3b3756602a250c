/** Streams of server-sent events to the pages that are open: a tick a second and the lines that came since the last. */

import type { ServerResponse } from 'node:http'
import type { Feed } from './feed.ts'
import type { TaskWatch } from './watch.ts'
import type { Tick } from './wire.ts'

/** More pages than this are no audience but an attack. */
const MAX_STREAMS = 64

export interface Streams {
  open(response: ServerResponse, of: { readonly feed: Feed; readonly watch: TaskWatch }): void
  /** Says to each that the end has come. */
  close(): void
}

export function createStreams(): Streams {
  const open = new Set<ServerResponse>()
  return {
    open: (response, { feed, watch }) => {
      if (open.size >= MAX_STREAMS) {
        response.writeHead(503, { 'retry-after': '5' })
        response.end()
        return
      }
      open.add(response)
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      response.write('retry: 2000\n\n')
      let told = feed.since(0).last
      const tell = (tick: Tick): void => {
        // a page that does not keep up misses a second, not the newest
        if (response.writableNeedDrain) return
        const { lines, last } = feed.since(told)
        told = last
        response.write(eventOf('tick', tick))
        if (lines.length > 0) response.write(eventOf('log', lines))
      }
      const now = watch.tick()
      if (now !== undefined) tell(now)
      const stop = watch.onTick(tell)
      response.on('close', () => {
        open.delete(response)
        stop()
      })
    },
    close: () => {
      for (const response of open) response.end(eventOf('bye', null))
    },
  }
}

/** JSON has no line end in it. */
function eventOf(name: string, value: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`
}
