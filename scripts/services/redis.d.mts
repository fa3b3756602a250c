/** A private Redis server for tests and benches. */
export interface RedisService {
  readonly url: string
  readonly port: number
  pid(): number | undefined
  /** Kills it and starts it again on the same data. */
  restart(): Promise<void>
  /** Kills it; `resume` starts it again on the same data. */
  halt(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

export function start(options?: { readonly args?: readonly string[] }): Promise<RedisService>
