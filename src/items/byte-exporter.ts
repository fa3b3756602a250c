/** An exporter made of an encoder and a sink: what all kinds of files that are a row of bytes have in common. */

import type { Exporter, ExportFormat } from './contract.ts'
import { type ByteSink, type SinkMark, openFileSink } from './byte-sink.ts'
import type { EncoderStart, ItemEncoder } from './encoder.ts'

export interface ByteFormatOptions {
  readonly name: string
  readonly live: boolean
  /** A promise where the encoder is a package to load. */
  readonly createEncoder: (start: EncoderStart) => ItemEncoder | Promise<ItemEncoder>
}

interface BytePosition extends SinkMark {
  readonly layout: string
}

export interface ByteFormat extends ExportFormat {
  /** Writes to a stream; it cannot be cut back. */
  openStream(sink: ByteSink, like?: string): Promise<Exporter>
}

export function byteFormat({ name, live, createEncoder }: ByteFormatOptions): ByteFormat {
  return {
    name,
    live,
    sidecars: [],
    open: async ({ file, position, like }) => {
      const mark = position === undefined ? undefined : parsePosition(position)
      if (position !== undefined && mark === undefined) return undefined
      const sink = await openFileSink(file, mark)
      return sink === undefined ? undefined : createByteExporter(sink, await createEncoder(startOf(mark, like)))
    },
    openStream: async (sink, like) => createByteExporter(sink, await createEncoder(startOf(undefined, like))),
  }
}

function startOf(mark: BytePosition | undefined, like: string | undefined): EncoderStart {
  if (mark !== undefined) return { layout: mark.layout }
  const model = like === undefined ? undefined : parsePosition(like)
  return model === undefined ? {} : { like: model.layout }
}

function createByteExporter(sink: ByteSink, encoder: ItemEncoder): Exporter {
  const append = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length > 0) await sink.write(bytes)
  }
  return {
    write: (items) => append(encoder.encode(items)),
    position: () => JSON.stringify({ ...sink.mark(), layout: encoder.layout() } satisfies BytePosition),
    outdated: () => encoder.outdated(),
    sync: () => sink.sync(),
    finish: () => append(encoder.end()),
    close: () => sink.close(),
  }
}

function parsePosition(text: string): BytePosition | undefined {
  try {
    const { bytes, digest, layout } = JSON.parse(text) as Partial<Record<string, unknown>>
    if (typeof bytes !== 'number' || typeof digest !== 'string' || typeof layout !== 'string') return undefined
    return Number.isSafeInteger(bytes) && bytes >= 0 ? { bytes, digest, layout } : undefined
  } catch {
    return undefined
  }
}
