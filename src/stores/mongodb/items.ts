/** Items of the MongoDB store: a document each, or several where one cannot hold it. */

import type { ItemStore } from '../../items/contract.ts'
import { itemKey } from './documents.ts'
import type { ItemDocument } from './documents.ts'
import type { Ledger } from './ledger.ts'
import { taskOf } from './rows.ts'
import type { Server } from './server.ts'
import type { Transaction } from './transaction.ts'

/** A document may hold 16 MiB: characters, of which each may take three bytes. */
const PIECE_CHARACTERS = 4_000_000

export function putItem(
  tx: Transaction,
  taskId: number,
  { seq, json }: { readonly seq: number; readonly json: string },
): void {
  const key = itemKey(taskId, seq)
  if (json.length <= PIECE_CHARACTERS) {
    tx.create('items', key, { t: taskId, seq, json })
    return
  }
  const pieces = piecesOf(json)
  tx.create('items', key, { t: taskId, seq, json: '', pieces: pieces.length })
  for (const [n, piece] of pieces.entries()) tx.create('items', pieceKey(key, n), { t: taskId, json: piece })
}

export function dropItem(tx: Transaction, taskId: number, seq: number): void {
  const key = itemKey(taskId, seq)
  const { pieces = 0 } = tx.get('items', key) ?? {}
  for (let n = 0; n < pieces; n++) tx.put('items', pieceKey(key, n), undefined)
  tx.put('items', key, undefined)
}

/** Writes an item that is there anew, with other text. */
export function changeItem(tx: Transaction, key: string, change: (json: string) => string): boolean {
  const item = tx.get('items', key)
  if (item?.seq === undefined) return false
  if (item.pieces === undefined) {
    tx.put('items', key, { ...item, json: change(item.json) })
    return true
  }
  const keys = Array.from({ length: item.pieces }, (_, n) => pieceKey(key, n))
  tx.need('items', keys)
  const json = change(keys.map((piece) => tx.get('items', piece)?.json ?? '').join(''))
  for (const piece of keys) tx.put('items', piece, undefined)
  const pieces = piecesOf(json)
  tx.put('items', key, { t: item.t, seq: item.seq, json: '', pieces: pieces.length })
  for (const [n, piece] of pieces.entries()) tx.put('items', pieceKey(key, n), { t: item.t, json: piece })
  return true
}

function pieceKey(key: string, n: number): string {
  return `${key}/${n}`
}

/** Never cut between the halves of a surrogate pair: UTF-8 cannot carry them apart. */
function piecesOf(json: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < json.length;) {
    let to = Math.min(json.length, from + PIECE_CHARACTERS)
    if (to < json.length && (json.charCodeAt(to) & 0xfc00) === 0xdc00) to--
    pieces.push(json.slice(from, to))
    from = to
  }
  return pieces
}

export function createItems(ledger: Ledger, server: Server): ItemStore {
  return {
    read: async (name, after, max) => {
      // Everything up to here is where it belongs; what comes meanwhile is for the next call.
      const { id, lastSeq } = await ledger.read((tx) => {
        const task = taskOf(tx, name)
        return { id: task.id, lastSeq: task.doc.lastSeq }
      })
      if (after >= lastSeq || max <= 0) return []
      await ledger.applyAll()
      const filter = { 'd.t': id, 'd.seq': { $gt: after, $lte: lastSeq } }
      const found = await server.find('items', filter, { sort: { 'd.seq': 1 }, limit: max })
      const items = found.flatMap(({ doc }) => (doc?.seq === undefined ? [] : [{ ...doc, seq: doc.seq }]))
      return Promise.all(items.map(async (item) => ({ seq: item.seq, json: await wholeJson(server, item) })))
    },
    revision: (name) => ledger.read((tx) => taskOf(tx, name).doc.revision),
  }
}

async function wholeJson(server: Server, { t, seq = 0, json, pieces }: ItemDocument): Promise<string> {
  if (pieces === undefined) return json
  const keys = Array.from({ length: pieces }, (_, n) => pieceKey(itemKey(t, seq), n))
  const found = await server.read('items', keys)
  return keys.map((key) => found.get(key)?.doc?.json ?? '').join('')
}
