/** An export in parts of bounded size: `items-00001.jsonl`, `items-00002.jsonl` and so on, of any format. */

import { access, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Exporter, ExportFormat, OpenExporterOptions, StoredItem } from './contract.ts'

/** When the next part begins; an item is never cut in two. */
export interface RotateLimit {
  /** Items of a part. */
  readonly items?: number
  /** Bytes of a part's items as lines of JSON, whatever the format: of JSON Lines the size of the file. */
  readonly bytes?: number
}

/** Where an item goes depends on the items alone: after any crash the parts come out byte for byte as without one. */
interface PartsPosition {
  readonly part: number
  /** Of the part's exporter. */
  readonly inner: string
  /** In this part so far. */
  readonly items: number
  readonly bytes: number
  /** Its end is written. */
  readonly ended: boolean
}

const DIGITS = 5

/** `items.jsonl` and 3: `items-00003.jsonl`. */
export function partName(file: string, part: number): string {
  const ending = extname(file)
  return join(dirname(file), `${basename(file, ending)}-${String(part).padStart(DIGITS, '0')}${ending}`)
}

export function rotating(format: ExportFormat, limit: RotateLimit): ExportFormat {
  return {
    name: `${format.name}/${String(limit.items ?? '')}/${String(limit.bytes ?? '')}`,
    live: format.live,
    sidecars: [],
    open: (options) => openParts(format, limit, options),
    replace: async (from, to) => {
      const parts = await partsOf(from)
      // the last first: whoever reads meanwhile finds no part of the new export after one of the old
      for (const part of parts.toReversed()) await rename(partName(from, part), partName(to, part))
      await removeParts(format, to, parts.length + 1)
    },
    remove: (file) => removeParts(format, file, 1),
  }
}

async function openParts(
  format: ExportFormat,
  limit: RotateLimit,
  { file, position, like }: OpenExporterOptions,
): Promise<Exporter | undefined> {
  const at = position === undefined ? undefined : parsePosition(position)
  if (position !== undefined && at === undefined) return undefined
  if (at !== undefined && !(await allExist(file, at.part - 1))) return undefined
  const start = at ?? { part: 1, items: 0, bytes: 0, ended: false }
  const layout = like === undefined ? undefined : parsePosition(like)?.inner
  const how = { ...(at && { position: at.inner }), ...(layout !== undefined && { like: layout }) }
  const inner = await format.open({ file: partName(file, start.part), ...how })
  if (inner === undefined) return undefined
  await removeParts(format, file, start.part + 1)
  return new PartsExporter({ format, limit, file, inner, start })
}

interface PartsStart {
  readonly format: ExportFormat
  readonly limit: RotateLimit
  readonly file: string
  readonly inner: Exporter
  readonly start: Omit<PartsPosition, 'inner'>
}

class PartsExporter implements Exporter {
  readonly #format: ExportFormat
  readonly #limit: RotateLimit
  readonly #file: string
  #inner: Exporter
  #at: Omit<PartsPosition, 'inner'>

  constructor({ format, limit, file, inner, start }: PartsStart) {
    this.#format = format
    this.#limit = limit
    this.#file = file
    this.#inner = inner
    this.#at = { part: start.part, items: start.items, bytes: start.bytes, ended: start.ended }
  }

  async write(items: readonly StoredItem[]): Promise<void> {
    let max = Number.POSITIVE_INFINITY
    for (let from = 0; from < items.length;) {
      if (this.#isFull(items[from])) await this.#next()
      const slice = this.#fitting(items.slice(from, from + max))
      const like = await this.#tryWrite(slice)
      if (like === undefined) from += slice.length
      // a column that the part has no room for: the item that brings it begins the next part, which has it
      else if (slice.length === 1) await this.#next(like)
      else max = 1
    }
  }

  position(): string {
    return JSON.stringify({ ...this.#at, inner: this.#inner.position() } satisfies PartsPosition)
  }

  /** Never: a part that new columns would outdate is ended before they come. */
  outdated(): boolean {
    return false
  }

  sync(): Promise<void> {
    return this.#inner.sync()
  }

  async finish(): Promise<void> {
    await this.#inner.finish()
    this.#at = { ...this.#at, ended: true }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #isFull(next: StoredItem | undefined): boolean {
    const { items, bytes } = this.#at
    if (items === 0 || next === undefined) return false
    const { items: maxItems = Number.POSITIVE_INFINITY, bytes: maxBytes = Number.POSITIVE_INFINITY } = this.#limit
    return items >= maxItems || bytes + lineBytes(next) > maxBytes
  }

  /** As many as fit into the part: one at least. */
  #fitting(items: readonly StoredItem[]): readonly StoredItem[] {
    const { items: maxItems = Number.POSITIVE_INFINITY, bytes: maxBytes = Number.POSITIVE_INFINITY } = this.#limit
    let { bytes } = this.#at
    let count = 0
    for (const item of items) {
      bytes += lineBytes(item)
      if (count > 0 && (bytes > maxBytes || this.#at.items + count >= maxItems)) break
      count++
    }
    return items.slice(0, count)
  }

  /** Undefined: they are written. Otherwise nothing is, and this is the layout that they need. */
  async #tryWrite(items: readonly StoredItem[]): Promise<string | undefined> {
    const before = this.#inner.position()
    await this.#inner.write(items)
    if (this.#inner.outdated()) {
      const like = this.#inner.position()
      await this.#inner.close()
      await this.#reopen(before)
      return like
    }
    const bytes = items.reduce((sum, item) => sum + lineBytes(item), 0)
    this.#at = { ...this.#at, items: this.#at.items + items.length, bytes: this.#at.bytes + bytes, ended: false }
    return undefined
  }

  async #reopen(position: string): Promise<void> {
    const inner = await this.#format.open({ file: partName(this.#file, this.#at.part), position })
    if (inner === undefined) throw new Error('something else writes to it at the same time')
    this.#inner = inner
  }

  async #next(like?: string): Promise<void> {
    if (!this.#at.ended) await this.#inner.finish()
    await this.#inner.sync()
    await this.#inner.close()
    const part = this.#at.part + 1
    const file = partName(this.#file, part)
    const inner = await this.#format.open({ file, like: like ?? this.#inner.position() })
    if (inner === undefined) throw new Error('a new part could not be begun')
    this.#inner = inner
    this.#at = { part, items: 0, bytes: 0, ended: false }
  }
}

function lineBytes({ json }: StoredItem): number {
  return Buffer.byteLength(json) + 1
}

async function allExist(file: string, parts: number): Promise<boolean> {
  for (let part = 1; part <= parts; part++) {
    try {
      await access(partName(file, part))
    } catch {
      return false
    }
  }
  return true
}

/** Numbers of the parts that are there, in order. */
async function partsOf(file: string): Promise<readonly number[]> {
  const ending = extname(file)
  const head = `${basename(file, ending)}-`
  const names = await readdir(dirname(file))
  return names
    .filter((name) => name.startsWith(head) && name.endsWith(ending))
    .map((name) => name.slice(head.length, name.length - ending.length))
    .filter((digits) => /^\d{5,9}$/.test(digits))
    .map(Number)
    .toSorted((a, b) => a - b)
}

async function removeParts(format: ExportFormat, file: string, from: number): Promise<void> {
  for (const part of await partsOf(file)) {
    if (part < from) continue
    for (const ending of ['', ...format.sidecars]) await rm(partName(file, part) + ending, { force: true })
  }
}

function parsePosition(text: string): PartsPosition | undefined {
  try {
    const { part, inner, items, bytes, ended } = JSON.parse(text) as Partial<Record<keyof PartsPosition, unknown>>
    const numbers = [part, items, bytes]
    if (typeof inner !== 'string' || typeof ended !== 'boolean') return undefined
    if (!numbers.every((number) => Number.isSafeInteger(number))) return undefined
    return { part: Number(part), inner, items: Number(items), bytes: Number(bytes), ended }
  } catch {
    return undefined
  }
}
