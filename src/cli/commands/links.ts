/** `spoor links`: what a crawl sees in a page. */

import { configError } from '../../config/given.ts'
import type { LinksAnswer } from '../../crawler/answers.ts'
import { bytesOrText, optionalField, runBatch, textField } from '../batch.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { fetchPage, readFileBytes } from '../page-source.ts'
import { clean, columns } from '../text.ts'
import { isHttpUrl } from '../urls.ts'

/** The URL of a file that nobody gave a --base for. */
const NO_BASE = 'http://localhost/'

export async function runLinks(context: CommandContext): Promise<ExitCode> {
  const { options, output, host, positionals } = context
  const { linksAnswer } = await import('../../crawler/answers.ts')
  if (options.batch) {
    await runBatch({ host, output }, (input) => {
      const contentType = optionalField(input, 'contentType')
      return linksAnswer({
        html: bytesOrText(input, { text: 'html', base64: 'bodyBase64' }),
        url: checkBase(textField(input, 'url')),
        ...(contentType === undefined ? {} : { contentType }),
      })
    })
    return EXIT.done
  }
  const source = positionals[0] ?? ''
  const page = isHttpUrl(source) ? await pageOfWeb(context, source) : await pageOfFile(context, source)
  if (page === undefined) return EXIT.failed
  const answer = linksAnswer(page)
  if (output.json) await output.jsonLine(answer)
  else await output.result(linksText(answer))
  return EXIT.done
}

interface PageInput {
  readonly html: Uint8Array
  readonly url: string
  readonly contentType?: string
}

async function pageOfWeb(context: CommandContext, url: string): Promise<PageInput | undefined> {
  const { answer, body, contentType } = await fetchPage(context, url)
  if (answer.error !== undefined) {
    context.output.problem(`spoor: ${clean(url)}: ${clean(answer.error)}`)
    return undefined
  }
  return {
    html: body,
    url: context.options.base ?? answer.finalUrl,
    ...(contentType === undefined ? {} : { contentType }),
  }
}

async function pageOfFile({ host, options }: CommandContext, name: string): Promise<PageInput> {
  return { html: await readFileBytes(host, name), url: options.base ?? NO_BASE }
}

function checkBase(url: string): string {
  if (isHttpUrl(url)) return url
  throw configError(`expected "url" to be an http or https URL, found ${JSON.stringify(url.slice(0, 200))}`)
}

export function linksText(answer: LinksAnswer): string {
  const rows = answer.links.map((link) => [
    link.tag + (link.nofollow ? ' nofollow' : link.rel === '' ? '' : ` ${clean(link.rel)}`),
    clean(link.url),
    clean(link.text ?? ''),
  ])
  const about = [
    ...(answer.title === '' ? [] : [`title: ${clean(answer.title)}`]),
    `base: ${clean(answer.base)}`,
    ...(answer.canonical === null ? [] : [`canonical: ${clean(answer.canonical)}`]),
    ...(answer.robots.length === 0 ? [] : [`robots: ${clean(answer.robots.join(', '))}`]),
    ...(answer.refresh === undefined
      ? []
      : [`refresh: ${clean(answer.refresh.url)} after ${answer.refresh.seconds} s`]),
  ]
  return [...about, ...columns(rows)].join('\n')
}
