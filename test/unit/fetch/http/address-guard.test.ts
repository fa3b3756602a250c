import { describe, expect, it } from 'vitest'

import { refuseAddress, refuseHost } from '../../../../src/fetch/http/address-guard.ts'

describe('the address guard', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '2606:4700::1',
    '2a00:1450:4001:80b::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '[2606:4700::1]',
  ])('lets %s pass', (address) => {
    expect(refuseAddress(address)).toBeUndefined()
  })

  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.0.0.5',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '198.18.0.1',
    '192.0.2.1',
    '168.63.129.16',
    '100.100.100.200',
    '::',
    '::1',
    '[::1]',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '100::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a9fe:a9fe',
    '2002:7f00:1::',
    '2002:a00:1::',
    '2001::1',
    '4000::1',
    '5f00::1',
    '',
    'example.com',
    '127.1',
  ])('refuses %j', (address) => {
    expect(refuseAddress(address)).toBeTypeOf('string')
  })

  it.each(['localhost', 'LOCALHOST.', 'a.localhost', 'metadata.google.internal', 'metadata', '127.0.0.1', '[::1]'])(
    'refuses the host %s',
    (host) => {
      expect(refuseHost(host)).toBeTypeOf('string')
    },
  )

  it.each([
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://[0:0:0:0:0:ffff:127.0.0.1]/',
    'http://①②⑦.0.0.1/',
  ])('refuses %s in its parsed form', (url) => {
    expect(refuseHost(new URL(url).hostname)).toBeTypeOf('string')
  })

  it.each(['example.com', 'site.test', 'localhost.example', '8.8.8.8'])('lets the host %s pass', (host) => {
    expect(refuseHost(host)).toBeUndefined()
  })
})
