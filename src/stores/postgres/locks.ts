/** Advisory locks of a store: named by its prefix, so that stores in one database do not wait for each other. */

/**
 * task      shared by whoever changes requests of the task; alone for whoever changes or clears the task itself
 * limit     one lease at a time where a page limit must not be exceeded
 * lowering  one at a time passes depths on
 */
export type LockKind = 'schema' | 'task' | 'limit' | 'lowering'

/** First key of a two-key advisory lock; the second is the task's id. */
export function lockOf(prefix: string, kind: LockKind): number {
  let hash = 0x811c9dc5
  for (const character of `spoor ${prefix} ${kind}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return hash | 0
}

/** One statement that takes the lock for each of these tasks, always in the same order. */
export function lockScript(
  prefix: string,
  tasks: readonly number[],
  { kind, shared }: { readonly kind: LockKind; readonly shared: boolean },
): string {
  const take = shared ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock'
  const rows = [...tasks].toSorted((a, b) => a - b).map((task) => `(${task})`)
  return `SELECT ${take}(${lockOf(prefix, kind)}, v.task) FROM (VALUES ${rows.join(', ')}) AS v(task)`
}
