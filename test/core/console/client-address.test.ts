import { describe, expect, it } from 'vitest'
import { addressOfSignIn } from '#core/console/client-address.ts'

describe('addressOfSignIn', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
    ['2001:db8:0:1::2', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('counts %s as %s', (address, counted) => {
    expect(addressOfSignIn(address)).toBe(counted)
  })

  it('never grows with what is no address', () => {
    expect(addressOfSignIn('x'.repeat(10_000))).toHaveLength(64)
    expect(addressOfSignIn(':'.repeat(10_000)).length).toBeLessThan(64)
  })
})
