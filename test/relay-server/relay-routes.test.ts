import { describe, expect, it } from '@jest/globals'
import { relayRouteOf } from '#lambdas/relay-server/relay-server.ts'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { RELAYED_ROUTES } from '#routes/relayed.ts'

describe('relayRouteOf', () => {
  it('serves every route that is relayed to an upstream, the count of tokens, and the models', () => {
    const served = ROUTES.filter(({ method, path }: Route) => relayRouteOf(method, path) !== undefined)
    const expected = ROUTES.filter((route: Route) => route.relays || /^\/v1\/(models|messages)/.test(route.path))
    expect(served).toEqual(expected)
  })

  it.each(RELAYED_ROUTES)('loads the protocol of $operation, which its row in RELAYED names', async (route) => {
    expect(await relayRouteOf(route.method, route.path)?.load()).toMatchObject({
      operation: route.operation,
      takesBody: true,
    })
  })

  it.each([
    ['/v1/models', 'list-models'],
    ['/v1/models/a%2Fb', 'get-model'],
  ])('GET %s is %s', async (path, operation) => {
    expect(await relayRouteOf('GET', path)?.load()).toMatchObject({ operation, takesBody: false })
  })

  it.each([
    ['GET', '/v1/chat/completions'],
    ['OPTIONS', '/v1/chat/completions'],
    ['POST', '/v1/chat/completions/'],
    ['GET', '/v1/models/'],
    ['GET', '/v1/models/a/b'],
    [undefined, '/v1/models'],
  ])('leaves %s %s to others', (method, path) => {
    expect(relayRouteOf(method, path)).toBeUndefined()
  })
})
