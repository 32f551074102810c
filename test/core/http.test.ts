import { describe, expect, it } from '@jest/globals'
import { bareHostname } from '#core/http.ts'

describe('bareHostname', () => {
  it.each([
    ['http://[::1]:3000', '::1'],
    ['https://[2001:db8::7]/v1', '2001:db8::7'],
    ['http://127.0.0.1:80', '127.0.0.1'],
    ['https://upstream.example', 'upstream.example'],
  ])('gives the host of %s without brackets', (url, host) => {
    expect(bareHostname(new URL(url))).toBe(host)
  })
})
