/** A private server that speaks MongoDB's protocol. */
export interface MongodbService {
  readonly url: string
  readonly port: number
  /** Kills it and starts it again on the same data. */
  restart(): Promise<void>
  /** Kills it; `resume` starts it again on the same data. */
  halt(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

export interface MongodbServiceOptions {
  /** Asks for a login, with this first user. */
  readonly setup?: { readonly user: string; readonly password: string }
}

export function start(options?: MongodbServiceOptions): Promise<MongodbService>
