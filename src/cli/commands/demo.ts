/** `spoor demo`: serves the bundled site on loopback and crawls it. */

import type { CommandContext } from '../command.ts'
import type { DemoSite } from '../demo-site/server.ts'
import { openDemoSite } from '../demo-site/server.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { watchInterrupts } from '../signals.ts'
import { runCrawl } from './crawl.ts'

/** The same each time, so that a demo that was stopped finds the URLs it knows. */
const PORT = 4_747

export async function runDemo(context: CommandContext): Promise<ExitCode> {
  const { host, output, options } = context
  const site = await openDemoSite({ clock: host.clock, port: PORT })
  try {
    if (options.serveOnly) return await serve(context, site)
    output.hint(
      `Crawling the demo site at ${site.origin}/ into ${options.dir}. Ctrl-C stops it; the same command goes on.`,
    )
    const code = await runCrawl({
      ...context,
      positionals: [`${site.origin}/`],
      options: { ...options, okWithFailures: true, sitemaps: [`${site.origin}/sitemap.xml`] },
    })
    if (code === EXIT.done)
      output.hint(
        'The dead link and the circular signpost are there on purpose, so they leave the exit status at 0 here.',
      )
    return code
  } finally {
    await site.close()
  }
}

/** Until Ctrl-C. */
async function serve({ host, output }: CommandContext, site: DemoSite): Promise<ExitCode> {
  await output.result(`${site.origin}/`)
  output.hint('Serving the demo site until Ctrl-C.')
  await new Promise<void>((resolve) => {
    const leave = (): void => {
      resolve()
    }
    watchInterrupts(host, { stop: leave, abort: leave })
  })
  return EXIT.done
}
