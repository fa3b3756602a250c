/** Asks for one URL: what the crawl knows of it, and why it was or was not fetched. */

import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Why } from '../wire.ts'
import { ask, messageOf } from './api.ts'
import { Attempts } from './failures.tsx'
import { safeText } from './format.ts'
import { ErrorNote, Panel, UrlText } from './parts.tsx'

export function Find({ task }: { readonly task: string }): JSX.Element {
  const [url, setUrl] = useState('')
  const [why, setWhy] = useState<Why | undefined>()
  const [error, setError] = useState<string | undefined>()
  const find = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      setWhy(await ask<Why>('/api/why', { task, url }))
      setError(undefined)
    } catch (problem) {
      setWhy(undefined)
      setError(messageOf(problem))
    }
  }
  return (
    <Panel title="Why was this URL fetched, or not?" wide>
      <form class="form" role="search" onSubmit={(event) => void find(event)}>
        <label class="grow">
          URL
          <input
            name="url"
            value={url}
            required
            autocomplete="off"
            spellcheck={false}
            placeholder="https://example.com/page"
            onInput={(event) => {
              setUrl(event.currentTarget.value)
            }}
          />
        </label>
        <button type="submit">Find</button>
      </form>
      <ErrorNote error={error} />
      <div aria-live="polite">{why === undefined ? null : <Answer why={why} />}</div>
    </Panel>
  )
}

function Answer({ why }: { readonly why: Why }): JSX.Element {
  const rows: (readonly [name: string, value: ComponentChildren])[] = [
    ['URL', <UrlText key="url" url={why.url} />],
    [
      'State',
      <span key="state" class={`tag ${why.state}`}>
        {why.state}
      </span>,
    ],
  ]
  const add = (name: string, value: string | number | null | undefined): void => {
    if (value !== null && value !== undefined) rows.push([name, safeText(String(value))])
  }
  const addUrl = (name: string, value: string | null | undefined): void => {
    if (value !== null && value !== undefined && value !== '') rows.push([name, <UrlText key={name} url={value} />])
  }
  add('Reason', why.reason)
  add('HTTP status', why.status)
  if (why.canonical !== why.url) addUrl('Canonical form', why.canonical)
  addUrl('Known as', why.aliasOf)
  if (why.finalUrl !== why.url) addUrl('Redirected to', why.finalUrl)
  addUrl('Found on', why.parent)
  add('Level', why.depth)
  add('Rule that fired', why.rule)
  if (why.attempts.length > 0) rows.push(['Attempts', <Attempts key="attempts" attempts={why.attempts} />])
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
