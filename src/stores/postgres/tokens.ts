/** Fencing tokens: the owner that gave a lease, and a number that it never gives twice. */

import type { Session } from './session.ts'

export function tokenOf({ ownerName }: Session, token: number): string {
  return `${ownerName}.${token}`
}

/** The number inside a token of this session; undefined when another session gave it. */
export function tokenNumber({ ownerName }: Session, token: string): number | undefined {
  const dot = token.lastIndexOf('.')
  const number = Number(token.slice(dot + 1))
  return token.slice(0, dot) === ownerName && Number.isSafeInteger(number) ? number : undefined
}
