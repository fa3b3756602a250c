/** Whether and how a request's page is shown to a browser. */

import type { RenderRequest } from '../fetch/contract.ts'
import { hostKeyOf } from '../url/canonical.ts'
import type { EngineTask } from './contract.ts'

/** Beside the handler's own time: to close it before the browser does. */
const HOLD_SLACK_MS = 5000

/** Undefined: it is not. */
export function renderRequestOf(task: EngineTask): RenderRequest | undefined {
  const { render, allowPrivate, door, handler, handlerTimeoutMs } = task
  if (render === undefined || render.mode === 'off') return undefined
  return {
    ...render,
    mayBePrivate: (url) => allowPrivate || door.isSeedHost(hostKeyOf(url)),
    // only a handler can act on the page
    ...(handler.kind === 'user' ? { holdMs: handlerTimeoutMs + HOLD_SLACK_MS } : {}),
  }
}
