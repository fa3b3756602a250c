/** The scripts of this store by name: each one atomic step in the server. */

import { createHash } from 'node:crypto'
import { ADD, KNOWN } from './lua/known.ts'
import { LEASE, LEASE_STEPS, LOOK, RENEW, RETURNS, STARTED } from './lua/lease.ts'
import { HEAD, MODEL } from './lua/model.ts'
import { BEAT, BURY, OWNERS, REGISTER } from './lua/owners.ts'
import { GET, HOSTS, LIST, READ_ITEMS, RECORDS, SET_STATE, STATS } from './lua/query.ts'
import { SETTLE, SETTLE_STEPS } from './lua/settle.ts'
import { CLEAR, OPEN_TASK, REQUEUE, RESCAN, RETIME, SCAN, SWEEP } from './lua/tasks.ts'
import { VERIFY } from './lua/verify.ts'

export interface Script {
  readonly text: string
  /** What the server calls it by, once it has seen the text. */
  readonly sha: string
}

function script(...parts: readonly string[]): Script {
  const text = [HEAD, MODEL, ...parts].join('\n')
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

export const SCRIPTS = {
  register: script(REGISTER),
  beat: script(BEAT),
  bury: script(KNOWN, RETURNS, BURY),
  owners: script(OWNERS),
  openTask: script(OPEN_TASK),
  rescan: script(KNOWN, SCAN, RESCAN),
  retime: script(RETIME),
  requeue: script(KNOWN, SCAN, REQUEUE),
  clear: script(CLEAR),
  sweep: script(SWEEP),
  add: script(KNOWN, ADD),
  lease: script(KNOWN, RETURNS, LEASE_STEPS, LEASE),
  look: script(LEASE_STEPS, LOOK),
  renew: script(RENEW),
  started: script(STARTED),
  settle: script(KNOWN, SETTLE_STEPS, SETTLE),
  get: script(RECORDS, GET),
  list: script(RECORDS, SCAN, LIST),
  stats: script(STATS),
  hosts: script(HOSTS),
  readItems: script(READ_ITEMS),
  setState: script(SET_STATE),
  verify: script(SCAN, VERIFY),
} as const satisfies Record<string, Script>

export type ScriptName = keyof typeof SCRIPTS
