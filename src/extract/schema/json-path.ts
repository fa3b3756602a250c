/** JSONPath (RFC 9535) over values of JSON. */

import type * as JsonP3 from 'json-p3'
import type { JsonValue } from '../../core/json.ts'
import { loadLate } from '../../util/load-late.ts'

const library = loadLate<typeof JsonP3>('json-p3')

export interface JsonQuery {
  all(value: JsonValue, max: number): readonly JsonValue[]
}

/** Throws an Error that says what is wrong with the path. */
export function compileJsonPath(path: string): JsonQuery {
  const query = library().compile(path)
  return {
    all(value, max) {
      const found: JsonValue[] = []
      // one after the other: `$..*` of a large document is a list many times its size
      for (const node of query.lazyQuery(value as never)) {
        found.push(node.value as JsonValue)
        if (found.length >= max) break
      }
      return found
    },
  }
}
