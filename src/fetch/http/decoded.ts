/** What decoding takes and gives. */

export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd' | { readonly unknown: string }

export type Decoded =
  | { readonly kind: 'body'; readonly body: Buffer; readonly truncated: boolean }
  | { readonly kind: 'too-large' }
  /** The coded bytes end early. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'undecodable'; readonly problem: string }

export interface DecodeInput {
  readonly wire: Buffer
  /** In the order of the header: the last was applied last and is undone first. */
  readonly codings: readonly Coding[]
  /** Most decoded bytes, at any stage. */
  readonly limitBytes: number
  /** At the limit: keep what there is (true) or say `too-large`. */
  readonly cut: boolean
  /** The caller stopped reading before the end: bytes that end early are no fault then. */
  readonly wireCut: boolean
}
