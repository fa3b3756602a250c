/** The conformance suite of cache stores: every invariant of the contract, on any store, in any test runner. */

import { cacheBasics } from './cache/basic-cases.ts'
import { cacheDurability } from './cache/durable-cases.ts'
import { cacheForgetting } from './cache/forget-cases.ts'
import type { CacheSuiteCases, CacheSuiteOptions } from './cache/subject.ts'

export type { CacheSuiteOptions, CacheSuiteSubject } from './cache/subject.ts'

/** Defines the suite's tests with the runner's `describe` and `it`. */
export function cacheStoreSuite(options: CacheSuiteOptions): void {
  run(options, 'a cache store', cacheBasics)
  run(options, 'a cache store that forgets', cacheForgetting)
  run(options, 'a cache store that outlives its process', cacheDurability)
}

function run({ runner, open }: CacheSuiteOptions, title: string, cases: CacheSuiteCases): void {
  runner.describe(title, () => {
    for (const [name, body] of Object.entries(cases)) {
      runner.it(name, async () => {
        const subject = await open()
        try {
          await body(subject)
        } finally {
          await subject.dispose()
        }
      })
    }
  })
}
