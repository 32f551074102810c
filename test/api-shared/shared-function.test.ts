import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Context } from 'aws-lambda'
import { functionFolderOf, methodsOf, ROUTES, type Route } from '#core/api/routes.ts'
import { sharedFunction } from '#lambdas/api-shared/shared-function.ts'
import { type ApiEvent, jsonResult } from '#middleware/api-event.ts'
import { apiEvent, captureLog, context, seen } from '../middleware/api-exchange.ts'

let log: ReturnType<typeof captureLog>
beforeEach(() => {
  log = captureLog()
})
afterEach(() => {
  jest.restoreAllMocks()
})

describe('sharedFunction', () => {
  const handler = sharedFunction({
    'get-health': async () => jsonResult(200, '"health"'),
    'get-model': async ({ path }) => jsonResult(200, JSON.stringify(path)),
  })
  const send = (httpMethod: string, resource: string, path = resource) =>
    handler(apiEvent({ httpMethod, resource, path }), context)

  it.each([
    ['GET', '/health', '/health', 'health'],
    ['HEAD', '/health', '/health', 'health'],
    ['GET', '/v1/models/{model}', '/v1/models/chat', '/v1/models/chat'],
  ])('%s %s: calls the handler of the operation', async (method, resource, path, body) => {
    expect(seen(await send(method, resource, path))).toMatchObject({ statusCode: 200, body })
  })

  it('refuses an operation of another function, as the fallback does', async () => {
    expect((await send('GET', '/v1/usage')).statusCode).toBe(405)
    expect((await send('OPTIONS', '/v1/models')).statusCode).toBe(405)
    expect((await send('GET', '/v1/nothing')).statusCode).toBe(404)
  })
})

describe('the shared functions of the API', () => {
  type Handler = (event: ApiEvent, lambda: Context) => Promise<unknown>
  const shared = ROUTES.filter((route) => functionFolderOf(route).startsWith('api-shared/'))

  it.each<Route>(shared)('the one of $operation has it', async (route) => {
    const { handler }: { handler: Handler } = await import(`../../lambdas/${functionFolderOf(route)}/handler.ts`)
    const [httpMethod = ''] = methodsOf(route)
    await handler(apiEvent({ httpMethod, resource: route.path, path: route.path }), context)
    expect(log.text()).toContain(`"operation":"${route.operation}"`)
  })

  it('are all in use', () => {
    const folders = readdirSync(new URL('../../lambdas/api-shared/', import.meta.url)).filter(
      (name) => !name.endsWith('.ts'),
    )
    const used = shared.map((route) => functionFolderOf(route).replace('api-shared/', ''))
    expect(folders.toSorted()).toEqual([...new Set(used)].toSorted())
  })
})
