/** Reads what nginx says of the requests it answered: the only witness that no crawler can persuade. */

import { closeSync, openSync, readSync } from 'node:fs'

/** Of one run, against the truth. */
export interface Coverage {
  /** Distinct pages of the site that were fetched. */
  readonly pages: number
  /** Pages of the site that were not. */
  readonly missing: number
  /** Fetches of a page beyond its first. */
  readonly repeats: number
}

/** As the log has them: the status, the host as the client named it, the target as it stood in the request line. */
export const LOG_FORMAT = '$request_method $status $http_host $request_uri'

const CHUNK_BYTES = 1 << 20

export class RequestLog {
  readonly #file: number
  readonly #fetched = new Map<string, number>()
  readonly #chunk = Buffer.alloc(CHUNK_BYTES)
  #rest = ''
  #pages = 0

  constructor(path: string) {
    this.#file = openSync(path, 'r')
  }

  /** Takes in what was appended since the last time; answers how many pages have been fetched since `forget`. */
  read(): number {
    for (;;) {
      const bytes = readSync(this.#file, this.#chunk)
      if (bytes === 0) return this.#pages
      const lines = (this.#rest + this.#chunk.toString('latin1', 0, bytes)).split('\n')
      this.#rest = lines.pop() ?? ''
      for (const line of lines) this.#count(line)
    }
  }

  has(key: string): boolean {
    return this.#fetched.has(key)
  }

  coverage(truth: ReadonlySet<string>): Coverage {
    let pages = 0
    let fetches = 0
    for (const [key, times] of this.#fetched) {
      if (!truth.has(key)) continue
      pages += 1
      fetches += times
    }
    return { pages, missing: truth.size - pages, repeats: fetches - pages }
  }

  forget(): void {
    this.#fetched.clear()
    this.#pages = 0
  }

  close(): void {
    closeSync(this.#file)
  }

  #count(line: string): void {
    const [method, status, host, ...target] = line.split(' ')
    if (method !== 'GET' || status !== '200' || host === undefined) return
    const key = pageKey(host, target.join(' '))
    this.#fetched.set(key, (this.#fetched.get(key) ?? 0) + 1)
    this.#pages += 1
  }
}

/** One name for all spellings of a page's URL: crawlers escape differently. */
export function pageKey(host: string, target: string): string {
  const address = host.split(':')[0] ?? host
  try {
    return address + decodeURIComponent(target)
  } catch {
    return address + target
  }
}
