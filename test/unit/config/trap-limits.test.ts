import { expect, test } from 'vitest'
import { defaultOptions } from '../../../src/config/options.ts'
import { TRAP_LIMITS, type TrapLimits } from '../../../src/url/traps.ts'

test('the trap options have the names and the defaults of the rules', () => {
  const limits: TrapLimits = defaultOptions()
  expect(limits).toMatchObject(TRAP_LIMITS)
})
