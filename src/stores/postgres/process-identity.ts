/** Which process on which machine: so that a process that died here is known to be dead at once. */

import { readFileSync, readlinkSync } from 'node:fs'

export interface ProcessIdentity {
  /** Boot and process namespace; undefined where the system does not tell them: then death is known by time alone. */
  readonly machine: string | undefined
  /** Number and start time, so that a number given anew is another process. */
  readonly process: string | undefined
}

export function ownIdentity(): ProcessIdentity {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const machine = `${boot} ${readlinkSync('/proc/self/ns/pid')}`
    const pid = readlinkSync('/proc/self')
    return { machine, process: identityOf(pid) }
  } catch {
    return { machine: undefined, process: undefined }
  }
}

/** Only true when it is a fact: of processes elsewhere nothing is known. */
export function isDead(
  own: ProcessIdentity,
  other: { readonly machine: string | null; readonly process: string | null },
): boolean {
  if (own.machine === undefined || other.machine !== own.machine || other.process === null) return false
  const [pid = ''] = other.process.split('.')
  return identityOf(pid) !== other.process
}

/** See proc(5): the second field may hold anything, the start time is the 20th after it. */
function identityOf(pid: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // a zombie has died already
    return fields[0] === 'Z' ? undefined : `${pid}.${fields[19] ?? ''}`
  } catch {
    return undefined
  }
}
