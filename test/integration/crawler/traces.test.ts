/** Each page is a span where a provider of traces is registered. */

import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, expect, test } from 'vitest'
import { Crawler } from '../../../src/index.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'

afterAll(() => {
  trace.disable()
})

test('a crawl makes a span for each page, with what became of it', async () => {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/': { links: ['/gone'] }, '/gone': { status: 410, body: 'gone' } })
  await new Crawler({ dir: folder.path }).run([site.url('/').replace('//', '//user:secret@')])
  const spans = exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, ...attributes }))
  const ended = spans.filter((span) => (span as Record<string, unknown>)['spoor.outcome'] !== 'released')
  expect(ended).toEqual([
    expect.objectContaining({
      name: 'spoor.page',
      'url.full': site.url('/'),
      'spoor.task': 'default',
      'spoor.outcome': 'done',
      'http.response.status_code': 200,
    }),
    expect.objectContaining({ 'spoor.outcome': 'failed', 'error.type': 'http-4xx', 'http.response.status_code': 410 }),
  ])
})
