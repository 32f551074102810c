import { describe, expect, it } from '@jest/globals'
import { jsonResult } from '#middleware/api-event.ts'
import { sharedHandler } from '#middleware/shared-handler.ts'
import { getModel } from '#routes/models.ts'
import { getHealth } from '#routes/service.ts'
import { apiEvent, context, seen } from './api-exchange.ts'

describe('sharedHandler', () => {
  const operations = [
    [getHealth, async () => jsonResult(200, '"health"')],
    [getModel, async ({ path }: { readonly path: string }) => jsonResult(200, JSON.stringify(path))],
  ] as const

  it.each([
    ['GET', '/health', '/health', 'health'],
    ['HEAD', '/health', '/health', 'health'],
    ['GET', '/v1/models/{model}', '/v1/models/chat', '/v1/models/chat'],
    ['OPTIONS', '/v1/models', '/v1/models', 'others'],
    ['GET', '/v1/usage', '/v1/usage', 'others'],
  ])(
    'calls for %s %s the handler of the operation, or that of all others',
    async (httpMethod, resource, path, body) => {
      const handler = sharedHandler(operations, async () => jsonResult(200, '"others"'))
      expect(seen(await handler(apiEvent({ httpMethod, resource, path }), context))).toMatchObject({ body })
    },
  )

  it('throws for an operation of another function', () => {
    const event = apiEvent({ httpMethod: 'GET', resource: '/v1/usage' })
    expect(() => sharedHandler(operations)(event, context)).toThrow('this function has no GET /v1/usage')
  })
})
