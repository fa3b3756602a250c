/** The first panel: figures, curves, levels and workers. */

import type { JSX } from 'preact'
import type { LevelRow, Tick, WorkerRow } from '../wire.ts'
import { Chart } from './chart.tsx'
import { bytes, count, duration, rate } from './format.ts'
import { Note, Panel } from './parts.tsx'
import type { Crawl } from './use-crawl.ts'

const STATES = ['done', 'failed', 'skipped', 'leased', 'pending'] as const
const NAMES: Readonly<Record<(typeof STATES)[number], string>> = {
  done: 'done',
  failed: 'failed',
  skipped: 'skipped',
  leased: 'in flight',
  pending: 'waiting',
}

export function Overview({ crawl }: { readonly crawl: Crawl }): JSX.Element {
  const { tick, points } = crawl
  if (tick === undefined) return <Note>Waiting for the first figures…</Note>
  const times = points.map(({ atMs }) => atMs)
  const { point } = tick
  const latency =
    point.p50 === null
      ? 'none was sent lately'
      : `half under ${duration(point.p50)}, 95 % under ${duration(point.p95 ?? 0)}`
  return (
    <>
      <Tiles tick={tick} />
      <div class="grid">
        <Panel title="Throughput">
          <Chart
            summary={`Throughput: ${rate(point.pagesPerSecond)} pages a second now`}
            unit="per second"
            times={times}
            series={[
              { label: 'pages', color: 'done', filled: true, values: points.map((one) => one.pagesPerSecond) },
              { label: 'failures', color: 'failed', values: points.map((one) => one.failedPerSecond) },
            ]}
          />
        </Panel>
        <Panel title="Latency of requests">
          <Chart
            summary={`Latency of requests: ${latency}`}
            unit="ms"
            times={times}
            series={[
              { label: 'half under', color: 'leased', filled: true, values: points.map((one) => one.p50) },
              { label: '95 % under', color: 'skipped', values: points.map((one) => one.p95) },
            ]}
          />
        </Panel>
        <Levels levels={tick.levels} />
        <Skips skipped={tick.skipped} />
        <Workers workers={tick.workers} alive={tick.workersAlive} />
      </div>
    </>
  )
}

function Tiles({ tick }: { readonly tick: Tick }): JSX.Element {
  const skipped = Object.values(tick.skipped).reduce((sum, one) => sum + one, 0)
  const known = tick.pending + tick.leased + tick.done + tick.failed + skipped
  const tiles: readonly (readonly [name: string, value: string, more: string])[] = [
    ['Pages', count(tick.done), `${rate(tick.point.pagesPerSecond)} a second`],
    ['Waiting', count(tick.pending), `of ${count(known)} known`],
    ['In flight', count(tick.leased), `${count(tick.workersAlive)} worker${tick.workersAlive === 1 ? '' : 's'}`],
    ['Failed', count(tick.failed), 'for good'],
    ['Skipped', count(skipped), 'by decision'],
    ['Downloaded', bytes(tick.bytes), `${count(tick.requests)} requests`],
    ['From cache', count(tick.fromCache), 'not sent'],
    ['Hosts', count(tick.hosts), `${count(tick.items)} items`],
  ]
  return (
    <dl class="tiles">
      {tiles.map(([name, value, more]) => (
        <div key={name} class={name === 'Failed' && tick.failed > 0 ? 'tile alert' : 'tile'}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Levels({ levels }: { readonly levels: readonly LevelRow[] }): JSX.Element {
  const most = Math.max(1, ...levels.map(sumOf))
  return (
    <Panel
      title="States by level"
      aside={
        <ul class="legend">
          {STATES.map((state) => (
            <li key={state}>
              <i class={`dot ${state}`} aria-hidden="true" />
              {NAMES[state]}
            </li>
          ))}
        </ul>
      }
    >
      <div class="scroll">
        <table class="levels">
          <thead>
            <tr>
              <th scope="col">Level</th>
              <th scope="col" class="number">
                URLs
              </th>
              <th scope="col" class="bars">
                States
              </th>
            </tr>
          </thead>
          <tbody>
            {levels.map((level) => (
              <tr key={level.depth}>
                <th scope="row">{level.depth}</th>
                <td class="number">{count(sumOf(level))}</td>
                <td class="bars">
                  <Bar level={level} most={most} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}

const sumOf = (level: LevelRow): number => STATES.reduce((sum, state) => sum + level[state], 0)

function Bar({ level, most }: { readonly level: LevelRow; readonly most: number }): JSX.Element {
  const words = STATES.filter((state) => level[state] > 0).map((state) => `${count(level[state])} ${NAMES[state]}`)
  return (
    <div class="bar" role="img" aria-label={words.join(', ')} title={words.join(', ')}>
      {STATES.map((state) => (
        <i key={state} class={state} style={{ width: `${(level[state] / most) * 100}%` }} />
      ))}
    </div>
  )
}

function Skips({ skipped }: { readonly skipped: Tick['skipped'] }): JSX.Element {
  const rows = Object.entries(skipped).toSorted(([, a], [, b]) => b - a)
  return (
    <Panel title="Skipped, by reason">
      {rows.length === 0 ? (
        <Note>Nothing was skipped.</Note>
      ) : (
        <table>
          <tbody>
            {rows.map(([reason, n]) => (
              <tr key={reason}>
                <th scope="row">{reason}</th>
                <td class="number">{count(n)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function Workers({ workers, alive }: { readonly workers: readonly WorkerRow[]; readonly alive: number }): JSX.Element {
  return (
    <Panel title="Workers" wide>
      {workers.length === 0 ? (
        <Note>Nobody works on it now.</Note>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Worker</th>
                <th scope="col">Machine</th>
                <th scope="col" class="number">
                  In flight
                </th>
                <th scope="col" class="number">
                  Pages
                </th>
                <th scope="col" class="number">
                  Pages/s
                </th>
              </tr>
            </thead>
            <tbody>
              {workers.map((worker) => (
                <tr key={worker.owner}>
                  <th scope="row">{worker.owner}</th>
                  <td>{worker.machine === null ? '' : `${worker.machine}:${worker.pid ?? '?'}`}</td>
                  <td class="number">{count(worker.leased)}</td>
                  <td class="number">{count(worker.pages)}</td>
                  <td class="number">{rate(worker.pagesPerSecond)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {alive > workers.length ? <Note>and {count(alive - workers.length)} more</Note> : null}
    </Panel>
  )
}
