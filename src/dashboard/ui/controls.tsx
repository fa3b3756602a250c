/** Pause, resume and stop; and the pace while it runs. */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Settings, Tick } from '../wire.ts'
import { messageOf, order } from './api.ts'
import { Panel } from './parts.tsx'

export type Say = (said: string, isBad?: boolean) => void

interface ControlsProps {
  readonly tick: Tick
  readonly say: Say
}

/** Carries out an order and says what became of it. */
export async function carryOut(say: Say, ordered: ReturnType<typeof order>): Promise<void> {
  try {
    say((await ordered).said)
  } catch (error) {
    say(messageOf(error), true)
  }
}

export function Controls({ tick, say }: ControlsProps): JSX.Element {
  const { standing, task } = tick
  const [sure, setSure] = useState(false)
  const isPaused = standing === 'paused'
  const isOver = standing === 'stopping' || standing === 'ended'
  return (
    <div class="controls">
      <button
        type="button"
        disabled={isOver}
        onClick={() => void carryOut(say, order(isPaused ? '/api/resume' : '/api/pause', task))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button
        type="button"
        class={sure ? 'danger' : ''}
        disabled={isOver}
        onBlur={() => {
          setSure(false)
        }}
        onClick={() => {
          setSure(!sure)
          if (sure) void carryOut(say, order('/api/stop', task))
        }}
      >
        {sure ? 'Really stop' : 'Stop'}
      </button>
    </div>
  )
}

interface PaceProps {
  readonly task: string
  readonly settings: Settings | null
  readonly cannot: string | null
  readonly say: Say
}

export function Pace({ task, settings, cannot, say }: PaceProps): JSX.Element {
  const [delay, setDelay] = useState('')
  const [concurrency, setConcurrency] = useState('')
  const reset = (): void => {
    setDelay(settings === null ? '' : String(settings.delayMs))
    setConcurrency(settings === null ? '' : String(settings.maxConcurrency))
  }
  useEffect(reset, [settings?.delayMs, settings?.maxConcurrency])
  const change = (event: Event): void => {
    event.preventDefault()
    void carryOut(say, order('/api/tune', task, { delayMs: Number(delay), maxConcurrency: Number(concurrency) }))
  }
  return (
    <Panel title="Pace" wide>
      <form class="form" onSubmit={change}>
        <label>
          Delay between two requests to one host, ms
          <input
            type="number"
            name="delay"
            min="0"
            step="1"
            required
            disabled={settings === null}
            value={delay}
            onInput={(event) => {
              setDelay(event.currentTarget.value)
            }}
          />
        </label>
        <label>
          Requests in flight
          {settings !== null && settings.processes > 1 ? `, in each of ${settings.processes} processes` : ''}
          <input
            type="number"
            name="concurrency"
            min="1"
            step="1"
            max="10000"
            required
            disabled={settings === null}
            value={concurrency}
            onInput={(event) => {
              setConcurrency(event.currentTarget.value)
            }}
          />
        </label>
        <button type="submit" disabled={settings === null}>
          Change
        </button>
      </form>
      <p class="note">
        {cannot ??
          'Both hold until this run ends. The delay is for all hosts and for all who work on the store; a longer Crawl-delay or Retry-After still wins. Requests in flight, Pause and Stop are for the processes of this run alone.'}
      </p>
    </Panel>
  )
}
