/** JSON Lines: each item one line, as it is stored. */

import { type ItemEncoder, NO_BYTES } from './encoder.ts'

export function createJsonlEncoder(): ItemEncoder {
  return {
    encode: (items) => Buffer.from(items.map(({ json }) => `${json}\n`).join('')),
    outdated: () => false,
    layout: () => '',
    end: () => NO_BYTES,
  }
}
