/** Public suites on pages, encodings and headers. They are read from beside the repository, and skipped where they are not. */

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeText, detectCharset } from '../../src/extract/charset.ts'
import { sniffType } from '../../src/extract/content-type.ts'
import { parseLinkHeader } from '../../src/extract/link-header.ts'
import { answerLinks } from '../../src/extract/links-answer.ts'
import { encodingOf, headerCharset, joinContentTypes } from '../../src/extract/mime-type.ts'

const FOLDER = new URL('../../../shared/conformance/', import.meta.url)
const PAGE = 'http://h.example/'

function suite<Data>(file: string, body: (data: Data) => void): void {
  const path = new URL(file, FOLDER)
  it.skipIf(!existsSync(path))(`agrees with every row of ${file}`, () => {
    body(JSON.parse(readFileSync(path, 'utf8')) as Data)
  })
}

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64')
const fold = (text: string | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim()

interface TokenizerData {
  readonly cases: readonly {
    readonly id: string
    readonly input: string
    readonly links: readonly [string, string][]
  }[]
}
interface EntityRow {
  readonly id: string
  readonly input: string
  readonly output: readonly (readonly [string, string])[]
}
interface ProbeData {
  readonly probes: readonly { id: string; bodyBase64: string; contentType: string; text: string }[]
  readonly decode: readonly { id: string; encoding: string; bytesBase64: string; text: string }[]
}
interface EncodingData {
  readonly html5lib: readonly { id: string; data?: string; dataBase64?: string; encoding: string }[]
  readonly sniffer: readonly {
    id: string
    dataBase64: string
    noOptions: string
    'transportLayer:windows-1251': string
  }[]
}
interface SniffData {
  readonly cases: readonly {
    id: string
    test: string
    options: { contentTypeHeader?: unknown; providedType?: unknown; noSniff?: boolean }
    essence: string
    bytesBase64: string
  }[]
}
interface TypeData {
  readonly wptMimeTypes: readonly { id: string; input: string; encoding: string | null }[]
  readonly wptExtractMimeType: readonly { id: string; input: string[]; encoding: string | null; mimeType: string }[]
}
interface LinkHeaderData {
  readonly cases: readonly { id: string; in: string; refs?: readonly { uri: string; rel?: string }[] }[]
}
interface QueryData {
  readonly percentEncoding: readonly { id: string; input: string; output: Record<string, string> }[]
}

describe('the scanner of pages', () => {
  suite<TokenizerData>('html-tokenizer-links.json', ({ cases }) => {
    const found = cases.map(({ id, input }) => {
      const html = `<!DOCTYPE html><title>t</title><a href="/start">start</a>${input}<a href="/end">end</a>`
      const links = answerLinks({ html, url: PAGE }).links.filter(({ tag }) => tag === 'a' || tag === 'area')
      return [id, links.map(({ url, text }) => [url, fold(text)])]
    })
    expect(found).toEqual(cases.map(({ id, links }) => [id, links.map(([url, text]) => [url, fold(text)])]))
  })

  suite<Record<'namedEntities' | 'numericEntities', readonly EntityRow[]>>('html-tokenizer-entities.json', (data) => {
    // a carriage return is changed and a NUL dropped before anyone sees them as references
    const rows = [...data.namedEntities, ...data.numericEntities].filter(({ input }) => !/[\r\0]/.test(input))
    const found = rows.map(({ id, input }) => {
      const { title, links } = answerLinks({ html: `<title>[${input}]</title><a href=/x>[${input}]</a>`, url: PAGE })
      return [id, fold(title), fold(links[0]?.text)]
    })
    const want = rows.map(({ id, output }) => [
      id,
      fold(`[${output[0]?.[1] ?? ''}]`),
      fold(`[${output[0]?.[1] ?? ''}]`),
    ])
    expect(found).toEqual(want)
  })

  suite<QueryData>('url-wpt-misc.json', ({ percentEncoding }) => {
    for (const { id, input, output } of percentEncoding.filter((row) => !row.input.includes('\u000e'))) {
      for (const [charset, query] of Object.entries(output)) {
        const text = [...input].map((char) => `&#${String(char.codePointAt(0))};`).join('')
        const html = Buffer.from(`<a href="/?${text}">`)
        const { links } = answerLinks({ html, url: PAGE, contentType: `text/html; charset=${charset}` })
        expect([id, charset, links[0]?.url]).toEqual([id, charset, `${PAGE}?${query}`])
      }
    }
  })
})

describe('encodings', () => {
  suite<ProbeData>('html-encoding-probes.json', ({ probes, decode }) => {
    for (const { id, bodyBase64, contentType, text } of probes.filter((row) => !row.id.startsWith('jsoup'))) {
      const { links } = answerLinks({ html: bytesOf(bodyBase64), url: PAGE, contentType })
      expect([id, fold(links.findLast(({ url }) => url.endsWith('/probe'))?.text)]).toEqual([id, fold(text)])
    }
    for (const { id, encoding, bytesBase64, text } of decode) {
      expect([id, decodeText(bytesOf(bytesBase64), encoding)]).toEqual([id, text])
    }
  })

  suite<EncodingData>('html-encoding.json', ({ html5lib, sniffer }) => {
    for (const { id, data, dataBase64, encoding } of html5lib) {
      const bytes = dataBase64 === undefined ? Buffer.from(data ?? '') : bytesOf(dataBase64)
      expect([id, detectCharset(bytes, 'text/html').charset]).toEqual([id, encodingOf(encoding)])
    }
    for (const row of sniffer) {
      const bytes = bytesOf(row.dataBase64)
      expect([row.id, detectCharset(bytes, 'text/html').charset]).toEqual([row.id, row.noOptions.toLowerCase()])
      const withHeader = detectCharset(bytes, 'text/html; charset=windows-1251').charset
      expect([row.id, withHeader]).toEqual([row.id, row['transportLayer:windows-1251'].toLowerCase()])
    }
  })
})

describe('headers', () => {
  suite<TypeData>('header-content-type.json', ({ wptMimeTypes, wptExtractMimeType }) => {
    for (const { id, input, encoding } of wptMimeTypes.filter((row) => row.encoding !== null)) {
      expect([id, headerCharset(input)]).toEqual([id, encodingOf(encoding ?? '')])
    }
    for (const { id, input, mimeType } of wptExtractMimeType) {
      expect([id, joinContentTypes(input)]).toEqual([id, mimeType])
    }
  })

  suite<SniffData>('mime-sniff.json', ({ cases }) => {
    // a type that did not come in a header, or is judged by what a browser can play, is not asked of a crawler
    const rows = cases.filter(
      ({ test, options }) => options.providedType === undefined && !/isSupported|should skip/.test(test),
    )
    for (const { id, options, essence, bytesBase64 } of rows) {
      const { contentTypeHeader: header, noSniff } = options
      if (header !== undefined && typeof header !== 'string') continue
      expect([id, sniffType(bytesOf(bytesBase64), header, noSniff).essence]).toEqual([id, essence])
    }
  })

  suite<LinkHeaderData>('header-link.json', ({ cases }) => {
    for (const { id, in: value, refs } of cases) {
      const found = parseLinkHeader([value]).flatMap(({ href, rels }) =>
        rels.length === 0 ? [[href, '']] : rels.map((rel) => [href, rel]),
      )
      expect([id, found]).toEqual([id, refs?.map(({ uri, rel }) => [uri, rel ?? ''])])
    }
  })
})
