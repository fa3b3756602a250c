/** Questions and orders to the server of the dashboard. */

import type { Done, Hello } from '../wire.ts'

let key = ''

/** Rejects with an Error whose message is for people. */
export async function ask<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const filled = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(filled).toString()
  return read<T>(
    await fetch(`${path}${search === '' ? '' : `?${search}`}`, { headers: { accept: 'application/json' } }),
  )
}

export async function hello(task: string): Promise<Hello> {
  const answer = await ask<Hello>('/api/hello', { task })
  key = answer.key
  return answer
}

export async function order(path: string, task: string, body: Readonly<Record<string, unknown>> = {}): Promise<Done> {
  const response = await fetch(`${path}?task=${encodeURIComponent(task)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-spoor-key': key },
    body: JSON.stringify(body),
  })
  return read<Done>(response)
}

async function read<T>(response: Response): Promise<T> {
  const value = (await response.json()) as T | { readonly error: string }
  if (response.ok) return value as T
  throw new Error((value as { readonly error?: string }).error ?? `HTTP ${response.status}`)
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
