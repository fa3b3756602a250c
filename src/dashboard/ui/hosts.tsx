/** The hosts: how many of their requests wait, when the next one may go out, and what keeps them back. */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { HostList, HostRow } from '../wire.ts'
import { ask, messageOf } from './api.ts'
import { count, duration, safeText } from './format.ts'
import { ErrorNote, Note, Pager, Panel } from './parts.tsx'

const PAGE = 50
const AGAIN_MS = 5000
const SORTS = { waiting: 'most waiting', next: 'longest pause', trouble: 'most trouble', name: 'name' } as const

interface HostQuery {
  readonly sort: string
  readonly contains: string
  readonly page: number
}

export function Hosts({ task }: { readonly task: string }): JSX.Element {
  const [query, setQuery] = useState<HostQuery>({ sort: 'waiting', contains: '', page: 0 })
  const [list, setList] = useState<HostList | undefined>()
  const [error, setError] = useState<string | undefined>()
  const { sort, contains, page } = query
  useEffect(() => {
    let isOver = false
    const load = async (): Promise<void> => {
      try {
        const from = String(page * PAGE)
        const found = await ask<HostList>('/api/hosts', { task, sort, contains, from, max: String(PAGE) })
        if (!isOver) setList(found)
        setError(undefined)
      } catch (problem) {
        setError(messageOf(problem))
      }
    }
    void load()
    const timer = window.setInterval(() => void load(), AGAIN_MS)
    return () => {
      isOver = true
      window.clearInterval(timer)
    }
  }, [task, query])
  const hosts = list?.hosts ?? []
  const turn = (to: number): void => {
    setQuery({ ...query, page: to })
  }
  return (
    <Panel title="Hosts" wide aside={<span class="muted">{list === undefined ? '' : totalOf(list)}</span>}>
      <HostForm query={query} onQuery={setQuery} />
      <ErrorNote error={error} />
      {list !== undefined && hosts.length === 0 ? <Note>No host fits.</Note> : <HostTable hosts={hosts} />}
      <Pager
        page={page}
        hasNext={(page + 1) * PAGE < (list?.total ?? 0)}
        onFirst={() => {
          turn(0)
        }}
        onBack={() => {
          turn(Math.max(0, page - 1))
        }}
        onNext={() => {
          turn(page + 1)
        }}
      />
    </Panel>
  )
}

const totalOf = ({ total, isWhole }: HostList): string =>
  `${count(total)} host${total === 1 ? '' : 's'}${isWhole ? '' : ', of those that were met first'}`

interface HostFormProps {
  readonly query: HostQuery
  readonly onQuery: (query: HostQuery) => void
}

function HostForm({ query, onQuery }: HostFormProps): JSX.Element {
  return (
    <form
      class="form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
      }}
    >
      <label>
        Name has in it
        <input
          name="contains"
          autocomplete="off"
          spellcheck={false}
          value={query.contains}
          onInput={(event) => {
            onQuery({ ...query, contains: event.currentTarget.value, page: 0 })
          }}
        />
      </label>
      <label>
        First those with
        <select
          name="sort"
          value={query.sort}
          onChange={(event) => {
            onQuery({ ...query, sort: event.currentTarget.value, page: 0 })
          }}
        >
          {Object.entries(SORTS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </form>
  )
}

function HostTable({ hosts }: { readonly hosts: readonly HostRow[] }): JSX.Element {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Host</th>
            {['Waiting', 'In flight', 'Next in', 'Delay', 'robots.txt asks'].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {hosts.map((host) => (
            <tr key={host.hostKey}>
              <th scope="row" class="url">
                {safeText(host.hostKey)}
              </th>
              <td class="number">{count(host.ready)}</td>
              <td class="number">{count(host.inFlight)}</td>
              <td class="number">{host.nextInMs <= 0 ? 'now' : duration(host.nextInMs)}</td>
              <td class="number">{duration(host.delayMs)}</td>
              <td class="number">{host.crawlDelayMs <= 0 ? '–' : duration(host.crawlDelayMs)}</td>
              <td>
                <HostState host={host} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function HostState({ host }: { readonly host: HostRow }): JSX.Element {
  if (host.downForMs > 0) return <span class="tag bad">down, rests for {duration(host.downForMs)}</span>
  if (host.backoffStep > 0) return <span class="tag retry">backing off, step {host.backoffStep}</span>
  if (host.silentFailures > 0) return <span class="tag retry">{count(host.silentFailures)} without an answer</span>
  return <span class="muted">well</span>
}
