/** Small named values that outlive the process: robots files, cookies, positions of exports. */

export interface StateStore {
  get(key: string): Promise<string | undefined>
  /** Writes all or nothing; undefined deletes. */
  set(entries: Readonly<Record<string, string | undefined>>): Promise<void>
  /** Keys that begin with the prefix, in order. */
  keys(prefix: string): Promise<readonly string[]>
}
