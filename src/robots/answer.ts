/** What the command answers about one URL and one robots file. */

import type { RobotsVerdict } from './contract.ts'
import { judge } from './match.ts'
import { parseRobots } from './parse.ts'

/** Verdict on `url` (any http(s) spelling) by the file's bytes or text, or why there is none. */
export function robotsAnswer(
  robots: string | Uint8Array,
  url: string,
  agent: string,
): RobotsVerdict | { readonly error: string } {
  try {
    return judge(parseRobots(robots), new URL(url).href, agent)
  } catch {
    return { error: `expected an absolute URL, found ${JSON.stringify(url.slice(0, 200))}` }
  }
}
