/** One page on disk: its body, and beside it what was said about it. Replaced whole or not at all. */

import { hash } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { CacheEntry, CacheId } from '../../cache/contract.ts'
import type { HeaderList } from '../../fetch/contract.ts'

export const META_ENDING = '~meta.json'
/** Of a file that is being written; its rest tells the writer. */
export const TEMPORARY = '~tmp-'
/** Of a body that its metadata speak of and that has not got its name yet. */
export const INCOMING = '~new-'

/** What stands in the metadata: the entry, and which body it belongs to. */
export interface PageMeta extends CacheEntry {
  readonly format: 1
  /** 32 hexadecimal digits of SHA-256. */
  readonly bodyHash: string
}

export function bodyHashOf(body: Uint8Array): string {
  return hash('sha256', body, 'hex').slice(0, 32)
}

/** Undefined: none there, torn, or of another URL. */
export async function readMeta(file: string, id?: CacheId): Promise<PageMeta | undefined> {
  const text = await readIfThere(file + META_ENDING)
  const meta = text === undefined ? undefined : parseMeta(text.toString('utf8'))
  if (meta === undefined || (id !== undefined && (meta.key !== id.key || meta.url !== id.url))) return undefined
  return meta
}

/** The body that the metadata speak of; undefined: it is not there whole. */
export async function readBody(file: string, meta: PageMeta): Promise<Uint8Array | undefined> {
  const body = await readIfThere(file)
  if (body !== undefined && isBody(body, meta)) return body
  // Its writer died, or is, between the two renames: the body waits under its second name.
  const incoming = await readIfThere(incomingOf(file, meta.bodyHash))
  return incoming !== undefined && isBody(incoming, meta) ? incoming : undefined
}

function isBody(body: Uint8Array, meta: PageMeta): boolean {
  return body.length === meta.bodyBytes && bodyHashOf(body) === meta.bodyHash
}

/**
 * Writes body and metadata. The rename of the metadata is the instant at which the new page counts; until then the old
 * one is whole, and afterwards the new one is found even if the body did not get its name any more. `unique` names the
 * temporary files.
 */
export async function writePage(file: string, meta: PageMeta, { body, unique }: Written): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const incoming = incomingOf(file, meta.bodyHash)
  const temporary = `${file}${TEMPORARY}${unique}`
  try {
    await writeFile(temporary, body)
    await rename(temporary, incoming)
    await writeMeta(file, meta, unique)
    await rename(incoming, file).catch(passOver('ENOENT'))
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

interface Written {
  readonly body: Uint8Array
  readonly unique: string
}

export async function writeMeta(file: string, meta: PageMeta, unique: string): Promise<void> {
  const temporary = `${file}${META_ENDING}${TEMPORARY}${unique}`
  await writeFile(temporary, `${JSON.stringify(meta, undefined, 1)}\n`)
  await rename(temporary, file + META_ENDING)
}

/** The metadata go first: without them the body is nothing. */
export async function removePage(file: string): Promise<boolean> {
  const meta = await readMeta(file)
  const was = await rm(file + META_ENDING).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false
      throw error
    },
  )
  await rm(file, { force: true })
  if (meta !== undefined) await rm(incomingOf(file, meta.bodyHash), { force: true })
  return was
}

/** The metadata's date of change says when the page was last used. */
export async function usedAtMs(file: string): Promise<number | undefined> {
  try {
    return (await stat(file + META_ENDING)).mtimeMs
  } catch {
    return undefined
  }
}

export async function setUsed(file: string, nowMs: number): Promise<void> {
  await utimes(file + META_ENDING, nowMs / 1000, nowMs / 1000).catch(() => undefined)
}

/** Gives a body that waits under its second name its own, if its metadata still speak of it. */
export async function settleIncoming(path: string): Promise<boolean> {
  const at = path.lastIndexOf(INCOMING)
  if (at === -1) return false
  const file = path.slice(0, at)
  const meta = await readMeta(file)
  if (meta === undefined || path !== incomingOf(file, meta.bodyHash)) return false
  await rename(path, file).catch(passOver('ENOENT'))
  return true
}

function incomingOf(file: string, bodyHash: string): string {
  return `${file}${INCOMING}${bodyHash}`
}

export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
    throw error
  }
}

function passOver(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error
  }
}

function parseMeta(text: string): PageMeta | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof PageMeta, unknown>>
    if (value.format !== 1 || !hasStrings(value) || !hasNumbers(value)) return undefined
    return isHeaderList(value.headers) ? (value as unknown as PageMeta) : undefined
  } catch {
    return undefined
  }
}

function hasStrings(value: Partial<Record<keyof PageMeta, unknown>>): boolean {
  return [value.key, value.url, value.method, value.bodyHash].every((field) => typeof field === 'string')
}

function hasNumbers({ status, fetchedAtMs, checkedAtMs, bodyBytes, wireBytes }: Record<string, unknown>): boolean {
  return [status, fetchedAtMs, checkedAtMs, bodyBytes, wireBytes].every((field) => Number.isFinite(field))
}

function isHeaderList(value: unknown): value is HeaderList {
  return Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.every((p) => typeof p === 'string'))
}

/** The entry as others see it. */
export function entryOf(meta: PageMeta): CacheEntry {
  const { key, url, wireUrl, method, status, headers, fetchedAtMs, checkedAtMs, varied, bodyBytes, wireBytes } = meta
  return {
    key,
    url,
    method,
    status,
    headers,
    fetchedAtMs,
    checkedAtMs,
    bodyBytes,
    wireBytes,
    ...(wireUrl === undefined ? {} : { wireUrl }),
    ...(varied === undefined ? {} : { varied }),
  }
}
