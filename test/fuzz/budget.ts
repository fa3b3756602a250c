/** How long the fuzz tests go on, and with which seeds: `SPOOR_FUZZ_MS` is the time of all of them together. */

/** Short, so that every run of the tests has a taste of it. */
const DEFAULT_MS = 8000
/** A fuzz test is over a little after its time: what it was doing is ended properly. */
const GRACE_MS = 60_000

export interface FuzzBudget {
  /** For `fc.assert`. */
  readonly parameters: {
    readonly seed: number
    readonly numRuns: number
    readonly interruptAfterTimeLimit: number
    readonly markInterruptAsFailure: false
  }
  /** For the test itself. */
  readonly timeoutMs: number
}

/** `share` of the whole time, 0 to 1. Prints the seed: `SPOOR_FUZZ_SEED` repeats a run. */
export function fuzzBudget(name: string, share: number): FuzzBudget {
  const allMs = Number(process.env['SPOOR_FUZZ_MS'] ?? DEFAULT_MS)
  const seed = Number(process.env['SPOOR_FUZZ_SEED'] ?? Date.now() % 2 ** 31)
  const ms = Math.max(500, Math.round(allMs * share))
  console.log(`seed ${seed} for ${ms} ms of ${name}`)
  return {
    parameters: { seed, numRuns: 1_000_000, interruptAfterTimeLimit: ms, markInterruptAsFailure: false },
    timeoutMs: ms + GRACE_MS,
  }
}
