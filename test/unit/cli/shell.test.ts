import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openTestSite } from '../../../src/testing/site.ts'
import { runCommand } from './run-command.ts'

const ROUTES = {
  '/': { title: 'Home', links: ['/next', 'https://other.test/'] },
  '/next': {
    headers: { 'content-type': 'text/html' },
    body: '<title>Next</title><h1>One</h1><h1>Two</h1><p class=price>12 €',
  },
}

test('a pipe runs line by line, awaits each, and prints what each gives', async () => {
  await using site = await openTestSite(ROUTES)
  const lines = `
    response.status
    page.title
    links
    const answer = await fetch('/next')
    answer.url
    $('h1').length
    await select({ names: ['h1'], price: { css: '.price', as: 'number' } })
    await select('h1')
    function twice(text) {
      return text + text
    }
    twice(page.title)
    const later = await Promise.resolve(41); later + 1
    await view()`
  const { code, stdout, stderr } = await runCommand(['shell', site.url('/')], {
    stdin: lines,
  })
  expect(stderr).toBe(
    `200  ${site.url('/')}  text/html, 217 bytes\n200  ${site.url('/next')}  text/html, ${Buffer.byteLength(ROUTES['/next'].body)} bytes\n`,
  )
  const out = stdout.trimEnd().split('\n')
  const file = out.pop() ?? ''
  expect({ code, out }).toEqual({
    code: 0,
    out: [
      '200',
      'Home',
      `[ '${site.url('/next')}', 'https://other.test/' ]`,
      site.url('/next'),
      '2',
      "{ names: [ 'One', 'Two' ], price: 12 }",
      'One',
      'NextNext',
      '42',
    ],
  })
  expect(await readFile(file, 'utf8')).toContain(`<base href="${site.url('/next')}">\n<title>Next`)
})

test.each([
  ['null.x\n1 + 1', /^spoor: TypeError: /],
  ['await fetch("/x")', /expected an http or https URL/],
  ['await select("h1")', /there is no page yet/],
  ['function half() {', /expected the rest of a statement/],
])('%j ends it at the first error with status 1 and one line', async (stdin, problem) => {
  const { code, stdout, stderr } = await runCommand(['shell'], { stdin })
  expect(stderr).toMatch(problem)
  expect(stderr.trimEnd()).not.toContain('\n')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
})

test('a page that does not come ends a pipe before its first line', async () => {
  const { code, stdout, stderr } = await runCommand(['shell', 'http://127.0.0.1:1/'], { stdin: '1 + 1' })
  expect(stderr).toMatch(/connect: the connection was refused/)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
})
