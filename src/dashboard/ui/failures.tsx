/** What failed, with every attempt, and the button that queues it again. */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { FailureList, FailureRow } from '../wire.ts'
import { ask, messageOf, order } from './api.ts'
import { carryOut, type Say } from './controls.tsx'
import { safeText } from './format.ts'
import { ErrorNote, Note, Pager, Panel, UrlText } from './parts.tsx'

interface Filter {
  readonly host: string
  readonly status: string
  readonly reason: string
}

const ALL: Filter = { host: '', status: '', reason: '' }

interface FailuresProps {
  readonly task: string
  /** Grows with each failure: the list is read again. */
  readonly failed: number
  readonly say: Say
}

export function Failures({ task, failed, say }: FailuresProps): JSX.Element {
  const [filter, setFilter] = useState(ALL)
  const [cursors, setCursors] = useState<readonly string[]>([''])
  const [list, setList] = useState<FailureList | undefined>()
  const [error, setError] = useState<string | undefined>()
  const page = cursors.length - 1
  const first = (): void => {
    setCursors([''])
  }
  const load = async (): Promise<void> => {
    try {
      setList(await ask<FailureList>('/api/failures', { task, ...filter, after: cursors.at(-1) ?? '' }))
      setError(undefined)
    } catch (problem) {
      setError(messageOf(problem))
    }
  }
  useEffect(() => void load(), [task, filter, cursors])
  // of the first page alone: a page that somebody reads does not move away
  useEffect(() => void (page === 0 ? load() : undefined), [failed])
  const retry = async (which: Readonly<Record<string, string>>): Promise<void> => {
    await carryOut(say, order('/api/retry', task, which))
    first()
  }
  const rows = list?.failures ?? []
  const retryButton = (
    <button type="button" disabled={rows.length === 0} onClick={() => void retry(given(filter))}>
      {filter === ALL ? 'Retry all' : 'Retry those of the filter'}
    </button>
  )
  return (
    <Panel title="Failures" wide aside={retryButton}>
      <FilterForm
        onFilter={(chosen) => {
          setFilter(chosen)
          first()
        }}
      />
      <ErrorNote error={error} />
      {list !== undefined && rows.length === 0 ? <Note>No failed requests.</Note> : null}
      <ul class="rows">
        {rows.map((row) => (
          <Failure key={row.id} row={row} onRetry={() => void retry({ id: row.id })} />
        ))}
      </ul>
      <Pager
        page={page}
        hasNext={list?.next !== undefined}
        onFirst={first}
        onNext={() => {
          setCursors([...cursors, list?.next ?? ''])
        }}
      />
    </Panel>
  )
}

const FIELDS = { host: 'Host', status: 'HTTP status', reason: 'Class' } as const

function FilterForm({ onFilter }: { readonly onFilter: (filter: Filter) => void }): JSX.Element {
  const [typed, setTyped] = useState(ALL)
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        onFilter(Object.values(typed).every((value) => value === '') ? ALL : typed)
      }}
    >
      {(Object.keys(FIELDS) as (keyof Filter)[]).map((name) => (
        <label key={name}>
          {FIELDS[name]}
          <input
            name={name}
            value={typed[name]}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => {
              setTyped({ ...typed, [name]: event.currentTarget.value })
            }}
          />
        </label>
      ))}
      <button type="submit">Filter</button>
    </form>
  )
}

function given(filter: Filter): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
}

function Failure({ row, onRetry }: { readonly row: FailureRow; readonly onRetry: () => void }): JSX.Element {
  const { url, reason, status, attempts } = row
  return (
    <li>
      <div class="row-head">
        <span class="tag bad">{safeText(reason)}</span>
        <UrlText url={url} />
        {status === null ? null : <span class="muted">HTTP {status}</span>}
        <span class="push" />
        <button type="button" class="small" aria-label={`Retry ${safeText(url)}`} onClick={onRetry}>
          Retry
        </button>
      </div>
      <details>
        <summary>
          {attempts.length} attempt{attempts.length === 1 ? '' : 's'}
        </summary>
        <Attempts attempts={attempts} />
      </details>
    </li>
  )
}

export function Attempts({ attempts }: Pick<FailureRow, 'attempts'>): JSX.Element {
  return (
    <ol class="attempts">
      {attempts.map(({ at, error }) => (
        <li key={at}>
          <time dateTime={at}>{at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</time> {safeText(error)}
        </li>
      ))}
    </ol>
  )
}
