/** How every chaos run is set up: what its commands are told, and what is demanded of them. */

/**
 * Short, so that leases run out during a run; longer than a busy machine holds a process up, and than PostgreSQL bears (5 s)
 * that a worker which stands still in a transaction keeps others from its rows.
 */
export const LEASE_MS = 8000
export const CONCURRENCY = 8
export const DELAY_MS = 40
export const PER_HOST = 3
/** Of each command on the embedded store. */
export const PROCESSES = 3
