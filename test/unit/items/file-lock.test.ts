import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { isHeld, lockFile } from '../../../src/items/file-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spoor-file-lock-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function statOf(pid: number): Promise<readonly string[]> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')
}

it.skipIf(process.platform !== 'linux')(
  'takes the lock of a process that runs no more, though its parent has not noticed',
  async () => {
    // the shell becomes a program that never asks for its child
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    })
    try {
      if (parent.stdout === null) throw new Error('the shell has no stdout')
      const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string]
      const owner = Number(line)
      const lock = join(folder, 'lock')
      await writeFile(lock, JSON.stringify({ pid: owner, host: hostname(), started: (await statOf(owner))[19] }))
      expect(isHeld(await lockFile(lock, systemClock))).toBe(true)
      process.kill(owner, 'SIGKILL')
      await expect.poll(async () => (await statOf(owner))[0]).toBe('Z')
      const taken = await lockFile(lock, systemClock)
      expect(isHeld(taken)).toBe(false)
      if (!isHeld(taken)) await taken.release()
    } finally {
      parent.kill('SIGKILL')
    }
  },
)
