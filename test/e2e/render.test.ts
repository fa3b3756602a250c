/** `--render` as people type it: what is missing is told before anything is fetched. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { chromium } from '../support/chromium.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const SPA = {
  '/': {
    body: '<div id="root"></div><script>fetch("/n").then((r) => r.text()).then((n) => { document.querySelector("#root").innerHTML = "<a href=/" + n + ">next</a>" })</script>',
    headers: { 'content-type': 'text/html' },
  },
  '/n': { body: 'two', headers: { 'content-type': 'text/plain' } },
  '/two': { body: `<title>two</title><p>${'word '.repeat(80)}</p>`, headers: { 'content-type': 'text/html' } },
}

describe('spoor crawl --render without a browser', () => {
  it('says what to install, fetches nothing and ends with 2', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(SPA)
    const nowhere = await runSpoor([
      'crawl',
      site.url('/'),
      '--dir',
      folder.path,
      '--render',
      '--browser',
      '/nowhere/chromium',
    ])
    expect(nowhere).toMatchObject({ code: 2, stdout: '' })
    expect(nowhere.stderr).toContain('--browser: expected a file that can be executed, found none at /nowhere/chromium')
    const none = await runSpoor(['crawl', site.url('/'), '--dir', folder.path, '--render'], {
      env: { PATH: '/nowhere', PLAYWRIGHT_BROWSERS_PATH: '/nowhere' },
    })
    expect(none.code).toBe(2)
    expect(none.stderr).toContain('npx playwright-core install --with-deps chromium')
    const broken = join(folder.path, 'chromium')
    await writeFile(
      broken,
      '#!/bin/sh\necho "error while loading shared libraries: libnss3.so: cannot open" >&2\nexit 127\n',
      { mode: 0o755 },
    )
    const dead = await runSpoor(['crawl', site.url('/'), '--dir', folder.path, '--render', '--browser', broken])
    expect(dead.code).toBe(2)
    expect(dead.stderr).toContain('the library libnss3.so is missing')
    expect(site.log).toEqual([])
  })

  it('refuses what makes no sense', async () => {
    await using folder = await openTemporaryFolder()
    for (const [args, words] of [
      [['--screenshot'], '--screenshot: expected --render with it'],
      [['--render', '--render-wait', 'idle'], 'expected load, domcontentloaded, networkidle or selector:CSS'],
      [['--render=sometimes'], 'expected one of off, on, auto'],
      [['--render', '--render-block', 'pictures'], 'expected one of image, font'],
    ] as const) {
      const end = await runSpoor(['crawl', 'http://127.0.0.1:1/', '--dir', folder.path, ...args])
      expect(end.code).toBe(2)
      expect(end.stderr).toContain(words)
    }
  })
})

describe.skipIf(chromium === undefined)('spoor crawl --render', () => {
  it('stands before the URL or after it, alone or with a word', async () => {
    await using site = await openTestSite(SPA)
    for (const render of [['--render'], ['--render', 'auto']]) {
      await using folder = await openTemporaryFolder()
      const end = await runSpoor(['crawl', ...render, site.url('/'), '--dir', folder.path, '-o', '-', '--quiet'])
      expect(end.code).toBe(0)
      const items = end.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly rendered?: boolean })
      expect(items.map(({ rendered }) => rendered)).toEqual([true, render.length === 1 ? true : undefined])
    }
  })

  it('works in worker processes, each with a browser of its own', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(SPA)
    const end = await runSpoor([
      'crawl',
      site.url('/'),
      '--dir',
      folder.path,
      '--render',
      '--processes',
      '2',
      '--json',
      '--quiet',
    ])
    expect(end.code).toBe(0)
    expect(JSON.parse(end.stdout)).toMatchObject({ finishReason: 'finished', pages: 2, failed: 0 })
  })
})
