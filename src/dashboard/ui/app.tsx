/** The page as a whole: its head, its panels by name in the address, and what orders were answered with. */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Hello } from '../wire.ts'
import { Controls, Pace, type Say } from './controls.tsx'
import { Failures } from './failures.tsx'
import { Find } from './find.tsx'
import { Hosts } from './hosts.tsx'
import { Items } from './items.tsx'
import { Log } from './log.tsx'
import { Overview } from './overview.tsx'
import { Note } from './parts.tsx'
import { applyTheme, currentTheme, nextTheme, type Theme } from './theme.ts'
import { type Crawl, useCrawl } from './use-crawl.ts'

const VIEWS = ['overview', 'hosts', 'failures', 'find', 'items', 'log'] as const
type View = (typeof VIEWS)[number]
const NAMES: Readonly<Record<View, string>> = {
  overview: 'Overview',
  hosts: 'Hosts',
  failures: 'Failures',
  find: 'Find a URL',
  items: 'Items',
  log: 'Log',
}
const SAID_MS = 6000

export function App(): JSX.Element {
  const [task, setTask] = useState('')
  const crawl = useCrawl(task)
  const view = useView()
  const [said, say] = useSaid()
  const { hello, tick } = crawl
  useEffect(() => {
    document.title = tick === undefined ? 'Spoor' : `${tick.done.toLocaleString('en')} pages · ${tick.task} · Spoor`
  }, [tick?.done])
  return (
    <>
      <a class="skip-link" href="#main">
        To the figures
      </a>
      <Head crawl={crawl} onTask={setTask} say={say} />
      <nav class="tabs" aria-label="Panels">
        {VIEWS.map((name) => (
          <a key={name} href={`#${name}`} aria-current={view === name ? 'page' : undefined}>
            {NAMES[name]}
            {name === 'failures' && (tick?.failed ?? 0) > 0 ? (
              <b class="badge">{tick?.failed.toLocaleString('en')}</b>
            ) : null}
          </a>
        ))}
      </nav>
      <Banner crawl={crawl} />
      <main id="main" tabIndex={-1}>
        {hello === undefined ? <Note>Opening…</Note> : <Shown view={view} crawl={crawl} hello={hello} say={say} />}
      </main>
      <div
        class={said === undefined ? 'said' : `said shown${said.isBad ? ' bad' : ''}`}
        role="status"
        aria-live="polite"
      >
        {said?.text}
      </div>
    </>
  )
}

interface ShownProps {
  readonly view: View
  readonly crawl: Crawl
  readonly hello: Hello
  readonly say: Say
}

function Shown({ view, crawl, hello: { task, cannot }, say }: ShownProps): JSX.Element {
  const { tick, log } = crawl
  const { failed = 0, items = 0, settings = null } = tick ?? {}
  switch (view) {
    case 'overview':
      return (
        <>
          <Overview crawl={crawl} />
          <Pace task={task} settings={settings} cannot={cannot.control} say={say} />
        </>
      )
    case 'hosts':
      return <Hosts task={task} />
    case 'failures':
      return <Failures task={task} failed={failed} say={say} />
    case 'find':
      return <Find task={task} />
    case 'items':
      return <Items task={task} items={items} />
    case 'log':
      return <Log lines={log} cannot={cannot.log} />
  }
}

interface HeadProps {
  readonly crawl: Crawl
  readonly onTask: (task: string) => void
  readonly say: Say
}

function Head({ crawl, onTask, say }: HeadProps): JSX.Element {
  const { hello, tick, line } = crawl
  const standing = standingOf(crawl)
  const canControl = hello?.cannot.control === null && line.state === 'open'
  return (
    <header class="head">
      <h1>
        <img src="/icon.svg" alt="" width="26" height="26" /> Spoor
      </h1>
      <div class="where">
        {hello === undefined ? null : <TaskChoice hello={hello} onTask={onTask} />}
        <span class="muted">{hello === undefined ? '' : `in ${hello.place}`}</span>
      </div>
      <span class={`standing ${standing.replace(' ', '-')}`} data-standing={standing} data-ticks={crawl.ticks}>
        {standing}
      </span>
      <span class="push" />
      {canControl && tick !== undefined ? <Controls tick={tick} say={say} /> : null}
      <ThemeButton />
    </header>
  )
}

function standingOf({ line, tick }: Crawl): string {
  if (line.state === 'over') return 'ended'
  return line.state === 'lost' ? 'not reached' : (tick?.standing ?? 'opening')
}

function TaskChoice({
  hello: { task, tasks },
  onTask,
}: Pick<HeadProps, 'onTask'> & { readonly hello: Hello }): JSX.Element {
  if (tasks.length < 2) return <strong>{task}</strong>
  return (
    <label>
      <span class="visually-hidden">Task</span>
      <select
        value={task}
        onChange={(event) => {
          onTask(event.currentTarget.value)
        }}
      >
        {tasks.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' }

function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState(currentTheme())
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Colours: ${theme}. Change`}
      onClick={() => {
        const next = nextTheme(theme)
        applyTheme(next)
        setTheme(next)
      }}
    >
      {SIGNS[theme]} <span class="wide-only">{theme}</span>
    </button>
  )
}

function Banner({ crawl: { line } }: { readonly crawl: Crawl }): JSX.Element | null {
  if (line.state === 'over') return <p class="banner">{line.said}</p>
  if (line.state !== 'lost') return null
  return (
    <p class="banner bad" role="alert">
      The process that crawls does not answer: it may have ended. Trying again…
    </p>
  )
}

const viewInAddress = (): View => VIEWS.find((view) => `#${view}` === location.hash) ?? 'overview'

function useView(): View {
  const [view, setView] = useState(viewInAddress)
  useEffect(() => {
    const change = (): void => {
      if (location.hash !== '#main') setView(viewInAddress())
    }
    addEventListener('hashchange', change)
    return () => {
      removeEventListener('hashchange', change)
    }
  }, [])
  return view
}

interface Said {
  readonly text: string
  readonly isBad: boolean
}

function useSaid(): readonly [Said | undefined, Say] {
  const [said, setSaid] = useState<Said | undefined>()
  useEffect(() => {
    if (said === undefined) return undefined
    const timer = window.setTimeout(() => {
      setSaid(undefined)
    }, SAID_MS)
    return () => {
      window.clearTimeout(timer)
    }
  }, [said])
  return [
    said,
    (text, isBad = false) => {
      setSaid({ text, isBad })
    },
  ]
}
