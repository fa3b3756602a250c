/** Processes of this machine: whether the one that once registered is still the one that runs. */

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
// oxlint-disable-next-line node/no-restricted-import, no-restricted-globals -- asks the system whether a process is there
import process from 'node:process'

/** Names a process beyond its number, which is given again. */
export interface ProcessIdentity {
  /** Of the machine since its boot, and of the space of process numbers: a container has its own. */
  readonly machine: string
  readonly pid: number
  /** When it began, in units of the system; empty where the system does not tell. */
  readonly began: string
}

export function thisProcess(): ProcessIdentity {
  const { pid } = process
  return { machine: thisMachine(), pid, began: beginOf(pid) ?? '' }
}

/** True only when it is a fact: of a process of another machine nothing is known. */
export function isGone({ machine, pid, began }: ProcessIdentity): boolean {
  if (machine !== thisMachine() || !Number.isSafeInteger(pid) || pid <= 0) return false
  if (began !== '') return beginOf(pid) !== began
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return 'code' in Object(error) && (error as { code: unknown }).code === 'ESRCH'
  }
}

let machine: string | undefined

function thisMachine(): string {
  machine ??= nameMachine()
  return machine
}

function nameMachine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return `host ${hostname()}`
  }
}

/** Undefined: no such process, or one that has ended and only waits for its parent; or the system does not tell. */
function beginOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // behind the name, which may hold anything: the state is field 3, the start field 22
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
