/** How long the last requests took, as the two figures that people ask for. */

export interface Latency {
  /** Milliseconds that half of them stayed under. */
  readonly p50: number
  /** The same of 95 %. */
  readonly p95: number
}

export interface LatencyWindow {
  note(ms: number): void
  /** Of what was noted since it was asked last; undefined: nothing was. */
  take(): Latency | undefined
}

/** Of more than so many the last ones count: enough for a 95th percentile, little to sort. */
const MAX_SAMPLES = 512

export function createLatencyWindow(): LatencyWindow {
  const samples: number[] = []
  let noted = 0
  return {
    note: (ms) => {
      samples[noted++ % MAX_SAMPLES] = ms
    },
    take: () => {
      if (noted === 0) return undefined
      const sorted = samples.splice(0).toSorted((a, b) => a - b)
      noted = 0
      return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
    },
  }
}

/** Nearest rank, in whole tenths of a millisecond. */
function quantile(sorted: readonly number[], share: number): number {
  const rank = Math.max(0, Math.ceil(sorted.length * share) - 1)
  return Math.round((sorted[rank] ?? 0) * 10) / 10
}
