/** JavaScript from a pipe: each statement when the one before it has ended, its value on stdout; the first error ends it. */

import { createInterface } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import { inspect, types } from 'node:util'
import type { Context } from 'node:vm'
import type { ExitCode } from '../exit.ts'
import { EXIT, problemLine } from '../exit.ts'
import type { CliHost } from '../host.ts'
import type { Output } from '../output.ts'

export interface LineShell {
  readonly host: CliHost
  readonly output: Output
  /** Puts into the scope of the lines what they are to find there. */
  readonly prepare: (scope: Context) => void
}

/** What one line came to. `more`: it is the beginning of a statement. */
type Answer =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'more' }
  | { readonly kind: 'error'; readonly error: unknown }

export async function runLines({ host, output, prepare }: LineShell): Promise<ExitCode> {
  const evaluate = await openEvaluator(prepare)
  let text = ''
  for await (const line of createInterface({ input: host.stdin, crlfDelay: Infinity })) {
    text += `${line}\n`
    if (text.trim() === '') continue
    const answer = await evaluate(text)
    if (answer.kind === 'more') continue
    text = ''
    if (answer.kind === 'error') return failed(output, answer.error)
    if (answer.value !== undefined)
      await output.result(typeof answer.value === 'string' ? answer.value : inspect(answer.value))
  }
  return text.trim() === ''
    ? EXIT.done
    : failed(output, new SyntaxError('expected the rest of a statement, found the end'))
}

function failed(output: Output, error: unknown): ExitCode {
  // what the lines throw is theirs, and of a realm of its own: no unexpected fault of the command
  const said =
    types.isNativeError(error) && error.name !== 'CrawlError' ? `spoor: ${error.name}: ${error.message}` : undefined
  output.problem(said ?? problemLine(error))
  return EXIT.failed
}

/** Node's own prompt evaluates: it has top-level await, and knows a statement that goes on. */
async function openEvaluator(prepare: (scope: Context) => void): Promise<(text: string) => Promise<Answer>> {
  const { Recoverable, start } = await import('node:repl')
  let answer: ((answer: Answer) => void) | undefined
  // what a statement throws by itself is handed to whoever prints it, and not to the callback
  const writer = (error: unknown): string => {
    answer?.({ kind: 'error', error })
    return ''
  }
  const server = start({ prompt: '', input: new PassThrough(), output: nowhere(), terminal: false, writer })
  prepare(server.context)
  return (text) =>
    new Promise((resolve) => {
      answer = resolve
      server.eval(text, server.context, 'stdin', (error: Error | null, value: unknown) => {
        if (error instanceof Recoverable) resolve({ kind: 'more' })
        else resolve(error === null ? { kind: 'value', value } : { kind: 'error', error })
      })
    })
}

const nowhere = (): Writable =>
  new Writable({
    write: (_chunk, _encoding, done) => {
      done()
    },
  })
