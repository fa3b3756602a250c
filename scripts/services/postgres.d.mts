/** What `postgres.mjs` gives to tests and benchmarks. */
export interface PrivateServer {
  readonly url: string
  restart(mode?: 'fast' | 'immediate'): Promise<void>
  /** Down until `resume`, as after a crash. */
  halt(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}
export declare function start(options?: { readonly fsync?: boolean }): Promise<PrivateServer>
