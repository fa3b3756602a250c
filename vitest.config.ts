import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/** Most of their time these wait for what they killed to come back. */
const LONG = /\/test\/(?:crash|fuzz|integration\/(?:render|stores)|e2e)\//

function longFirst(a: TestSpecification, b: TestSpecification): number {
  return Number(LONG.test(b.moduleId)) - Number(LONG.test(a.moduleId))
}

/** None of the long files is left to run alone at the end. */
class LongFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array: a sequencer
    return super.sort(files).then((sorted) => sorted.toSorted(longFirst))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // for hangs alone: a busy machine must not make a test fail
    testTimeout: 300_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // one more than there are cores: a test that waits for a process or a lease leaves its core to another
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
  },
})
