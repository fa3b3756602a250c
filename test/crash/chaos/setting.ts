/** How every chaos run is set up: what its commands are told, and what is demanded of them. */

/** Short, so that leases run out during a run; longer than a busy machine holds a process up. */
export const LEASE_MS = 5000
export const CONCURRENCY = 8
export const DELAY_MS = 40
export const PER_HOST = 3
/** Of each command on the embedded store. */
export const PROCESSES = 3
