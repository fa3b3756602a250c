/** A curve over time that grows to the right, drawn by uPlot. */

import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { timeOfDay } from './format.ts'

export interface Series {
  readonly label: string
  /** Name of a colour of the theme. */
  readonly color: string
  readonly filled?: boolean
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  /** For those who do not see it. */
  readonly summary: string
  readonly unit: string
  /** Milliseconds since the epoch. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
}

const HEIGHT = 180

export function Chart({ summary, unit, times, series }: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const data = useRef<uPlot.AlignedData>([[]])
  data.current = [times.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])]
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const draw = (): void => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element, unit, series), data.current, element)
    }
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    draw()
    resize.observe(element)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    addEventListener('spoor-theme', draw)
    dark.addEventListener('change', draw)
    return () => {
      resize.disconnect()
      removeEventListener('spoor-theme', draw)
      dark.removeEventListener('change', draw)
      plot.current?.destroy()
    }
  }, [])
  useEffect(() => {
    plot.current?.setData(data.current)
  }, [times.length, times.at(-1)])
  return <div class="chart" ref={box} role="img" aria-label={summary} />
}

function optionsOf(element: HTMLElement, unit: string, series: readonly Series[]): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  const axis: uPlot.Axis = {
    stroke: color('muted'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { live: true },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      { ...axis, space: 90, values: (_plot, seconds) => seconds.map((one) => timeOfDay(one * 1000)) },
      { ...axis, size: 52, values: (_plot, values) => values.map((value) => `${value.toLocaleString('en')}`) },
    ],
    series: [
      {
        label: 'at',
        value: (_plot: uPlot, second: number | null) => (second === null ? '–' : timeOfDay(second * 1000)),
      },
      ...series.map(({ label, color: name, filled = false }) => ({
        label: `${label} (${unit})`,
        stroke: color(name),
        width: 1.75,
        points: { show: false },
        spanGaps: true,
        value: (_plot: uPlot, value: number | null) => (value === null ? '–' : value.toFixed(1)),
        ...(filled ? { fill: color(`${name}-soft`) } : {}),
      })),
    ],
  }
}
