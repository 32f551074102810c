import { describe, expect, it } from 'vitest'
import { listenAddress } from '../../lambdas/relay-server/listen-address.ts'

describe('listenAddress', () => {
  it.each([
    ['0.0.0.0:3000', '0.0.0.0', 3000, false],
    ['[::]:3000', '::', 3000, false],
    ['127.0.0.1:0', '127.0.0.1', 0, true],
    ['127.255.0.9:1', '127.255.0.9', 1, true],
    ['[::1]:3000', '::1', 3000, true],
    ['[0:0::1]:3000', '::1', 3000, true],
    ['127.0.0.1', '127.0.0.1', 80, true],
    // Each of these may lead elsewhere.
    ['localhost:3000', 'localhost', 3000, false],
    ['127.0.0.1.example.com:3000', '127.0.0.1.example.com', 3000, false],
    ['127.0.0.1@0.0.0.0:3000', '0.0.0.0', 3000, false],
    ['[::ffff:10.0.0.1]:3000', '::ffff:a00:1', 3000, false],
    ['128.0.0.1:3000', '128.0.0.1', 3000, false],
  ])('reads %s', (endpoint, host, port, isLoopback) => {
    expect(listenAddress(endpoint)).toStrictEqual({ host, port, isLoopback })
  })

  it.each(['', ':3000', '0.0.0.0:66000', '0.0.0.0:x', '::1:3000'])('refuses %j', (endpoint) => {
    expect(() => listenAddress(endpoint)).toThrow(TypeError)
  })
})
