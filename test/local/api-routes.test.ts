import { describe, expect, it } from 'vitest'
import { ADMIN_ROUTES } from '#core/admin/routes.ts'
import { ROUTES, type Route } from '#core/api/routes.ts'
import { routeRequest } from '#local/api-front.ts'

describe('a route of the local API', () => {
  it.each<Route>([...ROUTES])(
    '$method $path goes to $operation, which streams or not, for as long as on AWS',
    (route) => {
      const path = route.path.replace(/\{\w+\}/, 'some%20id')
      const { target, resource, pathParameters, streams } = routeRequest(route.method, path)
      expect({ name: target.name, resource, streams }).toEqual({
        name: route.operation,
        resource: route.path,
        streams: route.streams === true,
      })
      expect(target.timeoutSeconds).toBe(route.streams === true ? 900 : 29)
      const name = /\{(\w+)\}/.exec(route.path)?.[1]
      expect(pathParameters).toEqual(name === undefined ? null : { [name]: 'some id' })
    },
  )

  it.each(ADMIN_ROUTES)('$method $path goes to the function $function of the admin API', (route) => {
    const { target, resource, streams } = routeRequest(route.method, route.path.replace(/\{\w+\}/, 'some%20id'))
    expect({ name: target.name, resource, streams }).toEqual({
      name: `admin-${route.function}`,
      resource: '/admin/v1/{proxy+}',
      streams: false,
    })
  })

  it.each([
    ['GET', '/admin/v1/nothing', 'admin-read'],
    ['PUT', '/admin/v1/session', 'admin-write'],
    ['GET', '/admin/v2/session', 'fallback'],
  ])('%s %s, which is none, goes to %s', (method, path, name) => {
    expect(routeRequest(method, path).target.name).toBe(name)
  })

  it.each([
    ['/health', 'get-health'],
    ['/openapi.json', 'get-openapi-document'],
  ])('answers the HEAD of a monitor as the GET of %s', (path, operation) => {
    expect(routeRequest('HEAD', path).target.name).toBe(operation)
  })

  it.each([
    ['GET', '/'],
    ['HEAD', '/v1/models'],
    ['GET', '/v1/models/'],
    ['GET', '/v1/models/a/b'],
    ['DELETE', '/v1/models/a'],
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/chat/completions/'],
    ['POST', '/v1/%63hat/completions'],
    ['PUT', '/v1/video/generations'],
    ['post', '/v1/chat/completions'],
  ])('%s %s goes to the fallback', (method, path) => {
    const { target, pathParameters, streams } = routeRequest(method, path)
    expect({ name: target.name, streams }).toEqual({ name: 'fallback', streams: false })
    expect(pathParameters).toEqual({ proxy: path.slice(1) })
  })
})
