/** Where the store keeps what belongs to a task and is no request. */

/** The rules of identity, for those who ask for a URL. */
export function identityKeyOf(task: string): string {
  return `identity/${task}`
}

/** What redirects of seeds have added to the scope. */
export function scopeKeyOf(task: string): string {
  return `scope/${task}`
}

/** When the round began whose pages are asked for anew. */
export function reloadKeyOf(task: string): string {
  return `reload/${task}`
}

/** Budgets of the trap guard. */
export function trapKeyOf(task: string): string {
  return `traps/${task}`
}
