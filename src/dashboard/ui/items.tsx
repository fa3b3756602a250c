/** The latest items, as they were extracted. */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ItemList } from '../wire.ts'
import { ask, messageOf } from './api.ts'
import { safeText } from './format.ts'
import { ErrorNote, Note, Panel, UrlText } from './parts.tsx'

interface ItemsProps {
  readonly task: string
  /** How many there are: the list is read again when it grows. */
  readonly items: number
}

const MAX_TEXT = 4000

export function Items({ task, items }: ItemsProps): JSX.Element {
  const [list, setList] = useState<ItemList | undefined>()
  const [error, setError] = useState<string | undefined>()
  const load = async (): Promise<void> => {
    try {
      setList(await ask<ItemList>('/api/items', { task }))
      setError(undefined)
    } catch (problem) {
      setError(messageOf(problem))
    }
  }
  useEffect(() => void load(), [task, items])
  return (
    <Panel title="Latest items" wide>
      <ErrorNote error={error} />
      {list?.items.length === 0 ? <Note>No items yet.</Note> : null}
      <ul class="rows">
        {list?.items.map((line) => (
          <Item key={line} line={line} />
        ))}
      </ul>
    </Panel>
  )
}

function Item({ line }: { readonly line: string }): JSX.Element {
  const item = parse(line)
  const { url, title } = item
  const text = JSON.stringify(item, null, 2)
  return (
    <li>
      <div class="row-head">
        {typeof url === 'string' ? <UrlText url={url} /> : null}
        {typeof title === 'string' ? <span class="muted">{safeText(title)}</span> : null}
      </div>
      <details>
        <summary>Item</summary>
        <pre>{safeText(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)}</pre>
      </details>
    </li>
  )
}

function parse(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return { line } // the server has cut it
  }
}
