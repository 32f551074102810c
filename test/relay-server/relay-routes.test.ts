import { describe, expect, it } from '@jest/globals'
import { relayRouteOf } from '#lambdas/relay-server/relay-server.ts'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'

describe('relayRouteOf', () => {
  it('serves every route that is relayed to an upstream, the count of tokens, and the models', () => {
    const served = ROUTES.filter(({ method, path }: Route) => relayRouteOf(method, path) !== undefined)
    const expected = ROUTES.filter((route: Route) => route.relays || /^\/v1\/(models|messages)/.test(route.path))
    expect(served).toEqual(expected)
  })

  it.each([
    ['POST', '/v1/chat/completions', 'create-chat-completion', true],
    ['GET', '/v1/models', 'list-models', false],
    ['GET', '/v1/models/a%2Fb', 'get-model', false],
  ])('%s %s is %s', async (method, path, operation, takesBody) => {
    expect(await relayRouteOf(method, path)?.load()).toMatchObject({ operation, takesBody })
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
