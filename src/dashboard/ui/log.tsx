/** The live log: what happens to each URL, and what the crawler says. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { LogLine } from '../wire.ts'
import { safeText, timeOfDay } from './format.ts'
import { Note, Panel, UrlText } from './parts.tsx'

interface LogProps {
  readonly lines: readonly LogLine[]
  readonly cannot: string | null
}

export function Log({ lines, cannot }: LogProps): JSX.Element {
  const [held, setHeld] = useState<readonly LogLine[] | undefined>()
  const [onlyTrouble, setOnlyTrouble] = useState(false)
  const end = useRef<HTMLDivElement>(null)
  const shown = (held ?? lines).filter(({ kind }) => !onlyTrouble || TROUBLE.has(kind))
  useEffect(() => {
    if (held === undefined && end.current !== null) end.current.scrollTop = end.current.scrollHeight
  }, [shown.length, held])
  return (
    <Panel
      title="Live log"
      wide
      aside={
        <div class="controls">
          <label class="check">
            <input
              type="checkbox"
              checked={onlyTrouble}
              onChange={(event) => {
                setOnlyTrouble(event.currentTarget.checked)
              }}
            />
            Only trouble
          </label>
          <button
            type="button"
            aria-pressed={held !== undefined}
            onClick={() => {
              setHeld(held === undefined ? lines : undefined)
            }}
          >
            {held === undefined ? 'Hold' : 'Go on'}
          </button>
        </div>
      }
    >
      {cannot === null ? null : <Note>{cannot}.</Note>}
      <div class="log" ref={end} role="log" aria-live="off" tabIndex={0} aria-label="Live log">
        {shown.map((line, index) => (
          <div key={`${line.atMs}-${index}`} class="log-line">
            <time>{timeOfDay(line.atMs)}</time>
            <span class={`tag ${line.kind}`}>{line.kind}</span>
            <span class="log-text">
              {line.url === null ? null : <UrlText url={line.url} />} {safeText(line.text)}
            </span>
          </div>
        ))}
      </div>
    </Panel>
  )
}

const TROUBLE: ReadonlySet<LogLine['kind']> = new Set(['retry', 'failed', 'lost', 'warning', 'log'])
