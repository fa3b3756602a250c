/** How much of a task may still be leased, and when it is over. */

export interface TaskCounts {
  readonly pending: number
  readonly leased: number
  readonly done: number
}

/** Leases that may be given now, so that done + leased never exceeds the page limit. */
export function leaseBudget(counts: TaskCounts, pageLimit: number | undefined): number {
  return pageLimit === undefined ? Infinity : Math.max(0, pageLimit - counts.done - counts.leased)
}

/** Nothing of the task is pending or leased anywhere, or its page limit is reached and nothing is leased. */
export function isFinished(counts: TaskCounts, pageLimit: number | undefined): boolean {
  return counts.leased === 0 && (counts.pending === 0 || leaseBudget(counts, pageLimit) === 0)
}
