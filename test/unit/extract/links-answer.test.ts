import { describe, expect, it } from 'vitest'
import { answerLinks } from '../../../src/extract/links-answer.ts'

describe('answerLinks', () => {
  it('answers with everything the command shows, in its order', () => {
    const html = '<title>T</title><meta name=robots content=none><a rel="x nofollow" href=/1>one</a>'
    expect(JSON.stringify(answerLinks({ html, url: 'http://site.test/' }))).toBe(
      '{"base":"http://site.test/","links":[{"url":"http://site.test/1","text":"one","rel":"x nofollow","nofollow":true,"tag":"a"}],' +
        '"title":"T","canonical":null,"robots":["none"]}',
    )
  })

  it('decodes bytes by their header and encodes queries in it', () => {
    const html = Buffer.from('<a href="/?q=\xe4">\xe4</a>', 'latin1')
    const { links } = answerLinks({ html, url: 'http://site.test/', contentType: 'text/html; charset=windows-1251' })
    expect(links[0]).toMatchObject({ url: 'http://site.test/?q=%E4', text: 'д' })
  })

  it('reads XHTML when the header says so', () => {
    const html = '<script src="x"/><a href="/1"/>'
    expect(answerLinks({ html, url: 'http://site.test/', contentType: 'application/xhtml+xml' }).links).toHaveLength(1)
  })

  it('answers without a usable URL of the page', () => {
    expect(answerLinks({ html: '<a href=/rel><a href=http://abs.test/>', url: '' }).links).toHaveLength(1)
  })
})
