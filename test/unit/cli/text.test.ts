import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOutput } from '../../../src/cli/output.ts'
import { liveLines, plainLine } from '../../../src/cli/progress.ts'
import { watchInterrupts } from '../../../src/cli/signals.ts'
import { failureLine, summaryText } from '../../../src/cli/summary.ts'
import { clean, columns, cutMiddle, plural, tally, wrap } from '../../../src/cli/text.ts'
import { failureText } from '../../../src/cli/commands/failures.ts'
import { statusText } from '../../../src/cli/commands/status.ts'
import { whyText } from '../../../src/cli/commands/why.ts'
import { defaultOptions } from '../../../src/config/options.ts'
import type { CrawlStatus, CrawlSummary, ProgressSnapshot } from '../../../src/crawler/contract.ts'
import { COUNTERS_AT_ZERO } from '../../../src/frontier/counters.ts'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'
import { formatBytes, formatCount, formatDuration } from '../../../src/util/format.ts'
import { collector, hostOf } from './run-command.ts'

const progress: ProgressSnapshot = {
  elapsedMs: 12_400,
  pages: 1_312,
  failed: 3,
  skipped: 14,
  pending: 20,
  leased: 2,
  bytes: 4_300_000,
  hosts: 1,
  inFlight: 2,
  fromCache: 0,
  lastUrl: 'http://a.test/\u001b[31mx',
  errors: { 'http-4xx': 2, timeout: 1 },
}

const summary: CrawlSummary = {
  task: 'default',
  finishReason: 'finished',
  pages: 1_312,
  failed: 3,
  skipped: { robots: 9, scope: 5 },
  duplicates: 40,
  bytes: 4_300_000,
  seconds: 12.4,
  fromCache: 0,
}

describe('text for people', () => {
  test('control characters never reach the terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // oxlint-disable-next-line no-control-regex -- it looks for them
        expect(clean(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
      }),
    )
  })

  test('what is too long is cut in the middle to the width', () => {
    expect(cutMiddle('http://a.test/some/long/path', 12)).toBe('http:/…/path')
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 40 }), (text, width) => {
        expect(cutMiddle(text, width).length).toBeLessThanOrEqual(width)
      }),
    )
  })

  test('columns line up, and lines wrap', () => {
    expect(
      columns(
        [
          ['a', '1', 'x'],
          ['bbb', '22', ''],
        ],
        new Set([1]),
      ),
    ).toEqual(['a     1  x', 'bbb  22'])
    expect(wrap('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrap('', 8)).toEqual([])
  })

  test('numbers read well', () => {
    expect([formatBytes(0), formatBytes(1_023), formatBytes(4_300_000), formatBytes(10 ** 15)]).toEqual([
      '0 B',
      '1.0 KB',
      '4.1 MB',
      '909 TB',
    ])
    expect([300, 12_400, 59_990, 125_000, 11_520_000, 187_200_000].map(formatDuration)).toEqual([
      '0.3 s',
      '12.4 s',
      '1 min 0 s',
      '2 min 5 s',
      '3 h 12 min',
      '2 d 4 h',
    ])
    expect(formatCount(1_234_567)).toBe('1,234,567')
    expect([plural(1, 'page'), plural(2_000, 'page')]).toEqual(['1 page', '2,000 pages'])
    expect(tally({ a: 1, b: 0, c: 5_000 })).toBe('5,000 c, 1 a')
  })
})

describe('progress and summary', () => {
  test('a plain line has the figures', () => {
    expect(plainLine(progress)).toBe(
      '12.4 s: 1,312 pages, 106/s, 4.1 MB, 20 waiting, 2 in flight, 14 skipped, 3 failed',
    )
  })

  test('the live lines tell what is behind the figures, and an end where there is one', () => {
    const lines = liveLines({
      ...progress,
      hosts: 2,
      processes: 4,
      etaMs: 125_000,
      levels: Array.from({ length: 10 }, (_, depth) => ({ depth, waiting: 1000 + depth })),
      busiestHosts: [{ host: 'a.test', requests: 1200, ms: 20 }],
      slowestHosts: [{ host: 'b.test', requests: 3, ms: 2300 }],
      errors: { timeout: 2, dns: 5 },
      lastUrl: 'http://a.test/x',
    })
    expect(lines).toEqual([
      '12.4 s  1,312 pages  106/s  4.1 MB  4 processes  2 min 5 s left',
      '  queue             20 waiting  2 in flight  2 hosts  14 skipped  3 failed',
      '  waiting by level  0: 1,000  1: 1,001  2: 1,002  3: 1,003  4: 1,004  5: 1,005  6: 1,006  7: 1,007  …',
      '  busiest hosts     a.test 1,200',
      '  slowest hosts     b.test 2.3 s',
      '  failed attempts   5 dns, 2 timeout',
      '  http://a.test/x',
    ])
    expect(liveLines({ ...progress, errors: {} })).toHaveLength(3)
  })

  test('the summary says what happened and what to do next', () => {
    const options = defaultOptions()
    const text = summaryText({ summary, options, progress })
    expect(text).toContain('Finished in 12.4 s.')
    expect(text).toContain('9 robots, 5 scope')
    expect(text).toContain('spoor export -o pages.jsonl')
    expect(failureLine({ summary, options, progress })).toBe(
      '3 pages failed: 2 http-4xx, 1 timeout; spoor failures says why, and with --retry queues them again',
    )
  })

  test('its hints carry the folder and the task, quoted for a shell', () => {
    const options = { ...defaultOptions(), dir: "it's here", task: 'b' }
    const text = summaryText({ summary: { ...summary, finishReason: 'interrupted' }, options, progress })
    expect(text).toContain(`spoor export --dir 'it'\\''s here' --task b -o`)
  })

  test('its hints carry the store, without its password', () => {
    const options = { ...defaultOptions(), store: 'postgres://spoor:s3cret@db/spoor?sslpassword=s3cret' }
    const told = [summaryText({ summary, options, progress }), failureLine({ summary, options, progress })].join('\n')
    expect(told).toContain(`spoor export --store 'postgres://spoor:***@db/spoor?sslpassword=***' -o`)
    expect(told).toContain(`1 timeout; spoor failures --store '`)
    expect(told).not.toContain('s3cret')
    const plain = summaryText({ summary, options: { ...options, store: 'redis://db:6379/2?prefix=a' }, progress })
    expect(plain).toContain(`spoor failures --store 'redis://db:6379/2?prefix=a'\n`)
  })

  test('of several tasks its hints leave the choice, and the file of each is named', () => {
    const options = { ...defaultOptions(), task: 'a', output: 'i.jsonl' }
    const tasks = ['a', 'b'].map((task) => ({ ...options, task, output: `i-${task}.jsonl` }))
    const text = summaryText({ summary, options, progress, tasks })
    expect(text).toContain('Items: i-a.jsonl, i-b.jsonl')
    expect(text).toContain('spoor failures --task NAME')
    expect(failureLine({ summary, options, progress, tasks })).toContain('spoor failures --task NAME says why')
    const without = summaryText({ summary, options: { ...options, output: undefined }, progress, tasks })
    expect(without).toContain('Items: spoor export --task NAME -o pages.jsonl')
  })

  test('nothing sends anybody to a store that was in memory', () => {
    const options = { ...defaultOptions(), store: 'memory:' }
    const told = [summaryText({ summary, options, progress }), failureLine({ summary, options, progress })].join('\n')
    expect(told).not.toMatch(/spoor (failures|export)/)
    const cut = (['interrupted', 'max-pages'] as const).map((finishReason) =>
      summaryText({ summary: { ...summary, finishReason }, options, progress }),
    )
    expect(cut.join('\n')).not.toMatch(/goes on|nothing is lost/)
    expect(failureLine({ summary, options, progress })).toBe('3 pages failed: 2 http-4xx, 1 timeout')
  })

  test('a finished crawl says that --select comes too late', () => {
    const select = [{ name: 'price', field: '.price', many: false }]
    const again = { ...summary, alreadyFinished: true }
    expect(summaryText({ summary: again, options: { ...defaultOptions(), select }, progress })).toMatch(
      /--select changes nothing .*--fresh/,
    )
    expect(summaryText({ summary: again, options: defaultOptions(), progress })).not.toContain('--select')
  })

  test('a limit and a finished crawl say so', () => {
    const options = defaultOptions()
    const limited = summaryText({
      summary: { ...summary, finishReason: 'max-pages', resumed: true },
      options,
      progress,
    })
    expect(limited).toContain('Stopped at --max-pages after 12.4 s (it went on where it had stopped).')
    const again = summaryText({ summary: { ...summary, alreadyFinished: true }, options, progress })
    expect(again).toContain('finished already')
    expect(again).toContain('--fresh')
    const over = summaryText({
      summary: { ...summary, finishReason: 'max-pages', alreadyFinished: true },
      options,
      progress,
    })
    expect(over).toContain('This crawl had stopped at --max-pages already; nothing was fetched.')
    expect(over).toContain('a higher limit goes on')
  })

  test('a round that was stopped tells what was due, not that it was looked at', () => {
    const recrawl = { mode: '7d', startedAt: '', due: 9, new: 0, changed: 1, unchanged: 2, gone: 0 }
    const told = (finishReason: CrawlSummary['finishReason']): string =>
      summaryText({ summary: { ...summary, recrawl, finishReason }, options: defaultOptions(), progress })
    expect(told('finished')).toMatch(/looked at +9 pages +0 new, 1 changed/)
    expect(told('max-pages')).toMatch(/ due +9 pages +0 new, 1 changed/)
  })
})

describe('answers for people', () => {
  test('a stack is shown line by line', () => {
    const error = 'handler: Error: no\u001b\n    at a (x.ts:1)\r\n    at b'
    const at = '2026-01-01T00:00:00.000Z'
    const text = failureText({
      url: 'http://a.test/',
      reason: 'handler',
      status: 200,
      attempts: [{ at, error, status: 200 }],
    })
    expect(text.split('\n').slice(2)).toEqual([
      `    ${at}  handler: Error: no\\u001b`,
      '      at a (x.ts:1)',
      '      at b',
    ])
  })

  const worker = {
    owner: 'w',
    alive: false,
    leased: 2,
    startedAt: '2026-01-01T00:00:00.000Z',
    machine: 'north',
    pid: 7,
    pages: 1234,
    pagesPerSecond: 41.25,
    fetchMs: null,
  }
  const status: CrawlStatus = {
    task: 'default',
    pending: 0,
    leased: 2,
    done: 10,
    failed: 1,
    skipped: { scope: 3 },
    hosts: 1,
    workers: [worker],
    counters: COUNTERS_AT_ZERO,
    items: 10,
    levels: [{ depth: 0, pending: 0, leased: 2, done: 10, failed: 1, skipped: 3 }],
  }

  test('status tells a crawl that stands still from one that runs', () => {
    const at = { place: 'spoor-data', where: '' }
    expect(statusText(status, { ...at, where: ' --dir x' })).toContain(
      'not finished; spoor crawl --dir x goes on with it',
    )
    expect(statusText(status, at)).toContain('by workers that are gone')
    expect(statusText({ ...status, workers: [{ ...worker, alive: true }] }, at)).toContain(': running')
    expect(statusText({ ...status, leased: 0 }, at)).toContain(': finished')
    const nothing = { ...status, pending: 0, leased: 0, done: 0, failed: 0, skipped: {} }
    expect(statusText(nothing, at)).toContain(': nothing was queued yet')
  })

  test('status lists who works, the busiest first, and counts those that it leaves out', () => {
    const at = { place: 'spoor-data', where: '' }
    const workers = Array.from({ length: 22 }, (_, n) => ({
      ...worker,
      owner: `w${n}`,
      alive: n > 0,
      pagesPerSecond: n,
    }))
    const text = statusText({ ...status, workers }, at)
    expect(text).toContain('workers  21  231.0 pages/s')
    expect(text).toMatch(/\nworker +machine +leased +pages +pages\/s\nw21 +north:7 +2 +1,234 +21\.0\nw20 /)
    expect(text).toContain('and 1 more')
    expect(text).not.toContain('w1 ')
  })

  test('a failure shows each attempt', () => {
    const attempts = [{ at: '2026-01-01T00:00:00Z', error: 'timeout: nothing\u001b[0m came' }]
    const text = failureText({ url: 'http://a.test/', reason: 'timeout', status: null, attempts })
    expect(text).toBe('http://a.test/\n  timeout, 1 attempt\n    2026-01-01T00:00:00Z  timeout: nothing\\u001b[0m came')
  })

  test('why has a sentence for every state', () => {
    const base = {
      url: 'http://a.test/',
      canonical: 'http://a.test/',
      depth: 1,
      parent: 'http://a.test/p',
      attempts: [],
    }
    for (const state of ['pending', 'leased', 'done', 'failed', 'unknown'] as const)
      expect(whyText({ ...base, state, reason: null })).toMatch(/\n {2}\w+/)
    expect(whyText({ ...base, state: 'skipped', reason: 'robots' })).toContain('not fetched (robots): robots.txt')
    expect(whyText({ ...base, state: 'skipped', reason: 'handler' })).toContain('skipped (handler): it was fetched')
    expect(whyText({ ...base, state: 'skipped', reason: 'new-reason' })).toContain('not fetched (new-reason)')
    expect(whyText({ ...base, state: 'skipped', reason: 'duplicate', aliasOf: 'http://b.test/' })).toContain(
      'the crawl has it as: http://b.test/',
    )
  })
})

const outputOn = (env: Record<string, string>, isTTY: boolean, quiet = false) => {
  const { host } = hostOf([], { env })
  const stderr = Object.assign(collector(), { isTTY, columns: 40 })
  return { stderr, output: createOutput({ ...host, stderr }, { json: false, quiet }) }
}

describe('output', () => {
  test('a live line is only for a terminal without NO_COLOR', () => {
    expect(outputOn({}, true).output.live).toBe(true)
    expect(outputOn({}, false).output.live).toBe(false)
    expect(outputOn({ NO_COLOR: '1' }, true).output.live).toBe(false)
    expect(outputOn({ TERM: 'dumb' }, true).output.live).toBe(false)
    expect(outputOn({}, true, true).output.live).toBe(false)
  })

  test('a message takes the live line away first, and the line fits the terminal', () => {
    const { output, stderr } = outputOn({}, true)
    output.status('3 pages', `http://a.test/\u001b${'x'.repeat(500)}`)
    output.status('y'.repeat(500), 'no room')
    output.hint('hello')
    const clear = '\r\u001b[2K'
    const tail = `http://a.test/\\u001b${'x'.repeat(500)}`
    const lines = [`3 pages  ${cutMiddle(tail, 30)}`, 'y'.repeat(39), 'hello\n']
    expect(stderr.text()).toBe(lines.map((line) => clear + line).join(''))
  })

  test('live lines replace each other row by row, also where the terminal has become narrower', () => {
    const { output, stderr } = outputOn({}, true)
    const clear = '\r\u001b[2K'
    const above = `\u001b[1A${clear}`
    output.screen(['a'.repeat(39), 'b\u001b'])
    stderr.columns = 20
    output.screen(['c'.repeat(30)])
    output.hint('end')
    expect(stderr.text()).toBe(
      `${clear}${'a'.repeat(39)}\nb\\u001b${clear}${above.repeat(2)}${'c'.repeat(18)}…${clear}end\n`,
    )
    Object.assign(stderr, { rows: 5 })
    output.screen(['one', 'two'])
    expect(stderr.text().endsWith(`${clear}one`)).toBe(true)
  })

  test('a line of log is a sentence for people and JSON for all else', () => {
    const line = JSON.stringify({ level: 40, time: 1, url: 'http://a.test/\u001b', tries: 2, msg: 'it is late' })
    const [seen, piped] = [outputOn({}, true), outputOn({}, false)]
    seen.output.log(line)
    piped.output.log(line)
    expect(seen.stderr.text()).toBe('warning: it is late (url: http://a.test/\\u001b, tries: 2)\n')
    expect(piped.stderr.text()).toBe(`${line}\n`)
  })

  test('quiet keeps hints back, and tells problems', () => {
    const { output, stderr } = outputOn({}, false, true)
    output.hint('hint')
    output.problem('problem')
    expect(stderr.text()).toBe('problem\n')
  })

  test('a reader of stdout that has gone is noticed, told once, and nothing is thrown into the void', async () => {
    const { host } = hostOf([])
    const output = createOutput(host, { json: false, quiet: false })
    let told = 0
    output.onGone(() => {
      told += 1
    })
    host.stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    await expect(output.result('x')).rejects.toThrow()
    expect(output.isGone()).toBe(true)
    expect(told).toBe(1)
  })
})

test('an echo of the first signal is not a second one', async () => {
  const clock = createFakeClock()
  const { host, interrupt } = hostOf([])
  const seen: string[] = []
  const unwatch = watchInterrupts(
    { ...host, clock },
    { stop: () => seen.push('stop'), abort: () => seen.push('abort') },
  )
  interrupt()
  await clock.advance(5)
  interrupt()
  expect(seen).toEqual(['stop'])
  await clock.advance(1_000)
  interrupt()
  interrupt()
  expect(seen).toEqual(['stop', 'abort'])
  unwatch()
  interrupt()
  expect(seen).toHaveLength(2)
})
