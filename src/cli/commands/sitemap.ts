/** `spoor sitemap`: the URLs of a sitemap or index. */

import type { SitemapSource } from '../../crawler/contract.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { loadLibrary } from '../library.ts'
import { openFile } from '../page-source.ts'
import { clean, plural } from '../text.ts'
import { isHttpUrl } from '../urls.ts'

export async function runSitemap(context: CommandContext): Promise<ExitCode> {
  const { options, output, host, positionals } = context
  const source = await sourceOf(context, positionals[0] ?? '')
  const { openPageFetcher } = await loadLibrary()
  const onWarning = (message: string): void => {
    output.hint(clean(message))
  }
  const fetcher = await openPageFetcher({ ...options, env: host.env, onWarning })
  try {
    let count = 0
    for await (const line of fetcher.sitemapEntries(source)) {
      count += 1
      if (output.json) await output.jsonLine(line)
      else await output.result(line.url)
    }
    output.hint(plural(count, 'URL'))
    return EXIT.done
  } finally {
    await fetcher.close()
  }
}

async function sourceOf({ host }: CommandContext, name: string): Promise<SitemapSource> {
  if (isHttpUrl(name)) return { kind: 'url', url: name }
  return { kind: 'stream', name, bytes: await openFile(host, name) }
}
