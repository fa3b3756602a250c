/** Who may ask the dashboard for what. */

import { describe, expect, test } from 'vitest'
import { parseDashboardAddress } from '../../../src/dashboard/address.ts'
import { type Access, decideAccess, type GuardSettings, type RequestHead } from '../../../src/dashboard/guard.ts'

const LOCAL: GuardSettings = { isLoopback: true, host: '127.0.0.1', port: 4949, token: undefined, key: 'the-key' }
const OPEN: GuardSettings = { ...LOCAL, isLoopback: false, host: '0.0.0.0', token: 'a-long-token' }

const get = (target: string, headers: RequestHead['headers']): RequestHead => ({ method: 'GET', target, headers })
const post = (headers: RequestHead['headers']): RequestHead => ({ method: 'POST', target: '/api/stop', headers })

function found(access: Access): unknown {
  return access.kind === 'refused' ? access.status : access.kind
}

describe('the guard of the dashboard', () => {
  test.each([
    ['127.0.0.1:4949', 'granted'],
    ['localhost:8080', 'granted'],
    ['[::1]:4949', 'granted'],
    ['LOCALHOST', 'granted'],
    ['attacker.example:4949', 403],
    ['127.0.0.1.attacker.example', 403],
    ['localhost.attacker.example:4949', 403],
    ['', 403],
    [undefined, 403],
  ])('on loopback, Host %s: %s', (host, expected) => {
    expect(found(decideAccess(get('/', { host }), LOCAL))).toBe(expected)
  })

  test.each(['//', 'http://[', '//['])('what is no path is refused: %s', (target) => {
    expect(found(decideAccess(get(target, { host: 'localhost' }), LOCAL))).toBe(400)
    expect(found(decideAccess(get(target, { host: 'localhost' }), OPEN))).toBe(400)
  })

  test.each<readonly [string, string, RequestHead['headers'], unknown]>([
    ['no token', '/', {}, 401],
    ['a wrong one in the address', '/?token=another', {}, 401],
    ['the token in the address', '/?token=a-long-token', {}, 'sign-in'],
    ['its cookie', '/', { cookie: 'a=b; spoor-4949=a-long-token' }, 'granted'],
    ['a cookie of another port', '/', { cookie: 'spoor-4950=a-long-token' }, 401],
    ['a bearer token', '/metrics', { authorization: 'Bearer a-long-token' }, 'granted'],
    [
      'a wrong bearer token beside the cookie',
      '/',
      { authorization: 'Bearer x', cookie: 'spoor-4949=a-long-token' },
      401,
    ],
  ])('elsewhere, with %s', (...[, target, headers, expected]) => {
    expect(found(decideAccess(get(target, { host: 'any.example', ...headers }), OPEN))).toBe(expected)
  })

  test.each([
    ['the key', { 'x-spoor-key': 'the-key' }, 'granted'],
    ['the key, from the page', { 'x-spoor-key': 'the-key', origin: 'http://localhost:4949' }, 'granted'],
    ['no key', { origin: 'http://localhost:4949' }, 403],
    ['a wrong key', { 'x-spoor-key': 'another' }, 403],
    ['the key, from another origin', { 'x-spoor-key': 'the-key', origin: 'http://evil.example' }, 403],
    ['the key, from nowhere', { 'x-spoor-key': 'the-key', origin: 'null' }, 403],
    ['the key, from another site', { 'x-spoor-key': 'the-key', 'sec-fetch-site': 'cross-site' }, 403],
  ])('an order with %s', (_name, headers, expected) => {
    expect(found(decideAccess(post({ host: 'localhost:4949', ...headers }), LOCAL))).toBe(expected)
  })

  test('other methods are refused', () => {
    expect(found(decideAccess({ method: 'PUT', target: '/', headers: { host: 'localhost' } }, LOCAL))).toBe(405)
  })
})

test.each([
  ['', { host: '127.0.0.1', port: 4949, mayMove: true }],
  ['9000', { host: '127.0.0.1', port: 9000, mayMove: false }],
  [':0', { host: '127.0.0.1', port: 0, mayMove: false }],
  ['0.0.0.0:80', { host: '0.0.0.0', port: 80, mayMove: false }],
  ['[::1]:9000', { host: '::1', port: 9000, mayMove: false }],
])('the address %j', (text, expected) => {
  expect(parseDashboardAddress(text)).toEqual(expected)
})

test.each(['70000', 'host', 'http://x:1', 'a b:9', '1:2:3'])('the address %j is refused', (text) => {
  expect(() => parseDashboardAddress(text)).toThrow('expected PORT or HOST:PORT')
})
