/** Instants as the store reckons with them. */

/** An instant of the server's clock, in milliseconds. Only in tests are the two not the same. */
export interface Instant {
  readonly nowMs: number
  /** As people read it: since the epoch. */
  readonly wallMs: number
}
