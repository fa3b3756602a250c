/** What a shell has at hand: the last page that was fetched, under the names that handlers know. */

import { spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'node:vm'
import { configError } from '../../config/given.ts'
import type { ExtractSchema, OpenedPage, PageFetcher } from '../../crawler/contract.ts'
import { checkUrl } from '../urls.ts'

export interface ShellOptions {
  readonly fetcher: PageFetcher
  readonly tell: (line: string) => void
  /** Somebody sits before it: `view` opens a browser. */
  readonly isTerminal: boolean
}

export interface Shell {
  /** Makes the page the one at hand. Relative URLs are resolved against the page before. Rejects when it does not come. */
  fetch(url: string | URL): Promise<OpenedPage['response']>
  /** Undefined: none has come yet. */
  current(): OpenedPage | undefined
  /** Writes the page into a file that a browser shows. */
  view(): Promise<string>
}

export function openShell({ fetcher, tell, isTerminal }: ShellOptions): Shell {
  let at: OpenedPage | undefined
  return {
    current: () => at,
    fetch: async (url) => {
      const given = String(url)
      const absolute = at !== undefined && URL.canParse(given, at.page.url) ? new URL(given, at.page.url).href : given
      const { answer, open } = await fetcher.fetchOnce(checkUrl(absolute))
      if (answer.error !== undefined) throw configError(`${absolute}: ${answer.error}`)
      at = await open()
      const { page, response } = at
      tell(`${response.status}  ${page.url}  ${page.contentType}, ${page.body.length} bytes`)
      return response
    },
    view: async () => {
      const file = await writeView(wanted(at))
      if (isTerminal) show(file)
      return file
    },
  }
}

function wanted(at: OpenedPage | undefined): OpenedPage {
  if (at === undefined) throw configError("there is no page yet: await fetch('https://example.com/')")
  return at
}

/** As getters: what is not asked for is not worked out. They are undefined as long as there is no page. */
export function addTo(scope: Context, shell: Shell): void {
  const { fetch, view } = shell
  const select = async (schema: ExtractSchema | string): Promise<unknown> => {
    const { page } = wanted(shell.current())
    return typeof schema === 'string' ? (await page.extract({ value: schema })).value : page.extract(schema)
  }
  const values = { fetch, view, select }
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(scope, name, { value, writable: true, enumerable: true, configurable: true })
  const parts: Readonly<Record<string, () => unknown>> = {
    response: () => shell.current()?.response,
    page: () => shell.current()?.page,
    $: () => shell.current()?.page.$,
    links: () => shell.current()?.page.links,
    body: () => shell.current()?.page.body,
  }
  for (const [name, get] of Object.entries(parts))
    Object.defineProperty(scope, name, {
      get,
      // a name of the user's own takes its place
      set: (value: unknown) => {
        Object.defineProperty(scope, name, { value, writable: true, enumerable: true, configurable: true })
      },
      enumerable: true,
      configurable: true,
    })
}

/** With its base, so that its pictures and styles are found. */
async function writeView({ page }: OpenedPage): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'spoor-view-'))
  const file = join(folder, `page${page.isHtml ? '.html' : '.txt'}`)
  const base = `<!doctype html><meta charset="utf-8"><base href="${page.scan.base.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">\n`
  await writeFile(file, page.isHtml ? base + page.text : page.text)
  return file
}

/** Where nothing can open it, its name has been told. */
function show(file: string): void {
  const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
    darwin: ['open'],
    win32: ['cmd', '/c', 'start', ''],
  }
  const [command, ...args] = openers[platform()] ?? ['xdg-open']
  spawn(command, [...args, file], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref()
}
