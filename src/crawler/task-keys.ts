/** Where the store keeps what belongs to a task and is no request. */

/** The rules of identity, for those who ask for a URL. */
export function identityKeyOf(task: string): string {
  return `identity/${task}`
}

/** What redirects of seeds have added to the scope. */
export function scopeKeyOf(task: string): string {
  return `scope/${task}`
}

/** The round over known pages that is under way, or was the last. */
export function roundKeyOf(task: string): string {
  return `round/${task}`
}

/** The file whose crawl it is, where that has no name of its own. */
export function fileKeyOf(task: string): string {
  return `file/${task}`
}

/** Budgets of the trap guard. */
export function trapKeyOf(task: string): string {
  return `traps/${task}`
}
