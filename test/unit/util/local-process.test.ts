import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { isGone, thisProcess } from '../../../src/util/local-process.ts'

it('this process is there', () => {
  expect(isGone(thisProcess())).toBe(false)
})

it('a process that has ended is gone', async () => {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  const { pid = 0 } = child
  await once(child, 'exit')
  expect(isGone({ ...thisProcess(), pid })).toBe(true)
  expect(isGone({ ...thisProcess(), pid, began: '' })).toBe(true)
})

it('another process that was given the same number is not the one that was registered', () => {
  const { machine, pid, began } = thisProcess()
  if (began !== '') expect(isGone({ machine, pid, began: `${began}0` })).toBe(true)
})

it('of processes of another machine nothing is known', () => {
  expect(isGone({ machine: 'elsewhere', pid: 999_999_999, began: '1' })).toBe(false)
})
