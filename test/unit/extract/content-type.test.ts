import { describe, expect, it } from 'vitest'
import { sniffType } from '../../../src/extract/content-type.ts'
import { joinContentTypes } from '../../../src/extract/mime-type.ts'

const bytes = (latin1: string): Uint8Array => Buffer.from(latin1, 'latin1')
const PNG = '\x89PNG\r\n\x1a\n'

describe('sniffType', () => {
  it.each([
    ['<p>x', 'text/html; charset=utf-8', 'text/html', true],
    ['plain words', 'text/html', 'text/html', true],
    ['', 'text/html', 'text/html', true],
    [PNG, 'text/html', 'text/html', false],
    ['PK\x03\x04\x14\0<a href="/x">', 'text/html', 'text/html', false],
    ['%PDF-1.4', 'text/html', 'text/html', false],
    ['\x01\x02\x03\x04<a>', 'application/xhtml+xml', 'application/xhtml+xml', false],
    ['one \x0b stray control in a long enough text', 'text/html', 'text/html', true],
    ['\xff\xfe<\0a\0>\0', 'text/html', 'text/html', true],
    ['\0<\0a\0>', 'text/html; charset=utf-16be', 'text/html', true],
    ['<!doctype html><p>', undefined, 'text/html', true],
    ['<!doctype html><p>', '', 'text/html', true],
    ['<!doctype html><p>', 'html', 'text/html', true],
    ['\n<meta charset=x>', 'unknown/unknown', 'text/html', true],
    ['\xef\xbb\xbf<html>', undefined, 'text/html', true],
    ['\xff\xfe<\0h\0t\0m\0l\0>\0', undefined, 'text/html', true],
    ['<ul><li>', undefined, 'text/html', true],
    ['<unknown>', undefined, 'text/plain', false],
    ['just text', undefined, 'text/plain', false],
    [PNG, undefined, 'image/png', false],
    ['<a href=x>', 'text/plain', 'text/plain', false],
    ['\0\x01', 'text/plain', 'application/octet-stream', false],
    ['<a href=x>', 'application/json', 'application/json', false],
    ['<a href=x>', 'application/octet-stream', 'application/octet-stream', false],
    ['<?xml version="1.0"?><!DOCTYPE html>\n<html xmlns="x">', 'application/xml', 'application/xml', true],
    ['<?xml version="1.0"?><rss>', 'application/rss+xml', 'application/rss+xml', false],
    ['<?xml version="1.0"?><html>', undefined, 'text/xml', true],
  ])('of %j served as %s is %s', (text, header, ...want) => {
    const { essence, isHtml } = sniffType(bytes(text), header)
    expect([essence, isHtml]).toEqual(want)
  })

  it('does not look for pages in untyped bodies that ask not to be sniffed', () => {
    expect(sniffType(bytes('<html>'), undefined, true)).toMatchObject({ essence: 'text/plain', isHtml: false })
    expect(sniffType(bytes('<html>'), 'text/html', true).isHtml).toBe(true)
  })

  it('tells text from data', () => {
    expect(sniffType(bytes('{}'), 'application/ld+json').isText).toBe(true)
    expect(sniffType(bytes('a{}'), 'text/css').isText).toBe(true)
    expect(sniffType(bytes(PNG), 'image/png').isText).toBe(false)
  })
})

describe('joinContentTypes', () => {
  it.each([
    [['text/html', 'text/plain'], 'text/plain'],
    [['text/plain;charset=gbk', 'text/plain'], 'text/plain;charset=gbk'],
    [['text/plain;charset=gbk', 'text/html'], 'text/html'],
    [['text/html', '*/*;charset=gbk'], 'text/html'],
    [['text/html;x="', 'text/plain'], 'text/html;x=", text/plain"'],
    [['', 'nonsense'], undefined],
  ])('of %j is %s', (lines, want) => {
    expect(joinContentTypes(lines)).toBe(want)
  })
})
