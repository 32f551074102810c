import { describe, expect, it } from 'vitest'
import { readTarget, receivedOverHttp } from '#lambdas/relay-server/received-over-http.ts'

describe('readTarget', () => {
  it.each([
    ['/v1/models', '/v1/models', []],
    ['/v1/models?', '/v1/models', []],
    ['/v1/models?a=1&b&a=2', '/v1/models', ['a', 'b']],
    ['/v1/models?%61=1?', '/v1/models', ['a']],
    [undefined, '/', []],
  ])('splits %j', (url, path, queryNames) => {
    expect(readTarget(url)).toEqual({ path, queryNames })
  })
})

describe('receivedOverHttp', () => {
  it('has every line of a header, the body, and the id of the platform', () => {
    const rawHeaders = ['Prefer', 'a', 'Lambda-Web-Request-Id', 'id-1', 'prefer', 'b', 'x-prefer', 'c']
    const target = { path: '/v1/models', queryNames: ['a'] }
    const received = receivedOverHttp({ rawHeaders }, target, Buffer.from('{}'))
    expect(received).toMatchObject({ ...target, body: Buffer.from('{}'), platformRequestId: 'id-1' })
    expect([received.headerLines('prefer'), received.headerLines('origin')]).toEqual([['a', 'b'], []])
  })
})
