/** What the page knows of the crawl: its beginning, and what the stream of events adds. */

import { useEffect, useState } from 'preact/hooks'
import type { Hello, LogLine, Point, Tick } from '../wire.ts'
import { hello, messageOf } from './api.ts'

const MAX_POINTS = 2400
const MAX_LINES = 300
const AGAIN_MS = 2000

export interface Crawl {
  readonly hello: Hello | undefined
  readonly tick: Tick | undefined
  readonly points: readonly Point[]
  readonly log: readonly LogLine[]
  /** So many have come. */
  readonly ticks: number
  /** `lost`: it is tried again. `over`: the process has said good-bye; with what it said. */
  readonly line: { readonly state: 'opening' | 'open' | 'lost' } | { readonly state: 'over'; readonly said: string }
}

const NOTHING: Crawl = { hello: undefined, tick: undefined, points: [], log: [], ticks: 0, line: { state: 'opening' } }

/** `''`: the task that the dashboard was opened for. */
export function useCrawl(task: string): Crawl {
  const [crawl, setCrawl] = useState<Crawl>(NOTHING)
  useEffect(() => follow(task, setCrawl), [task])
  return crawl
}

type Change = (change: (crawl: Crawl) => Crawl) => void

/** Answers how to stop. */
function follow(task: string, change: Change): () => void {
  let source: EventSource | undefined
  let timer: number | undefined
  let stopped = false
  const begin = async (): Promise<void> => {
    try {
      const begun = await hello(task)
      if (stopped) return
      change(() => ({
        hello: begun,
        tick: undefined,
        points: begun.history,
        log: begun.log,
        ticks: 0,
        line: { state: 'open' },
      }))
      source = listen(begun.task, change, again)
    } catch (error) {
      if (!stopped) again(messageOf(error))
    }
  }
  const again = (_why?: string): void => {
    source?.close()
    change((crawl) => ({ ...crawl, line: { state: 'lost' } }))
    timer = window.setTimeout(() => void begin(), AGAIN_MS)
  }
  void begin()
  return () => {
    stopped = true
    source?.close()
    window.clearTimeout(timer)
  }
}

function listen(task: string, change: Change, onLost: () => void): EventSource {
  const source = new EventSource(`/api/stream?task=${encodeURIComponent(task)}`)
  source.addEventListener('tick', ({ data }: MessageEvent<string>) => {
    const tick = JSON.parse(data) as Tick
    change((crawl) => {
      const newer = crawl.points.at(-1)?.atMs !== tick.point.atMs
      const points = newer ? [...crawl.points, tick.point].slice(-MAX_POINTS) : crawl.points
      return { ...crawl, tick, points, ticks: crawl.ticks + 1, line: { state: 'open' } }
    })
  })
  source.addEventListener('log', ({ data }: MessageEvent<string>) => {
    const lines = JSON.parse(data) as readonly LogLine[]
    change((crawl) => ({ ...crawl, log: [...crawl.log, ...lines].slice(-MAX_LINES) }))
  })
  source.addEventListener('bye', ({ data }: MessageEvent<string>) => {
    source.close()
    const said = JSON.parse(data) as string | null
    change((crawl) => ({ ...crawl, line: { state: 'over', said: said ?? 'The crawl has ended.' } }))
  })
  source.addEventListener('error', onLost)
  return source
}
