import { readdirSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { MODEL_ENDPOINTS } from '#core/api/paths.ts'
import { declaredStatuses, defineRoute, methodsOf, type Route } from '#routes/define-route.ts'
import { allowedMethods, ROUTES } from '#routes/index.ts'
import { bundleHandler } from '#stack/bundle-handler.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { requestBodySchema } from '../../lib/openapi/request-schemas.ts'

describe('ROUTES', () => {
  it('name no operation and no pair of method and path twice', () => {
    expect(new Set(ROUTES.map(({ operation }) => operation)).size).toBe(ROUTES.length)
    expect(new Set(ROUTES.map(({ method, path }) => `${method} ${path}`)).size).toBe(ROUTES.length)
  })

  it('have a function for each folder of lambdas/api, and a folder for each function', () => {
    const folders = readdirSync(new URL('../../lambdas/api/', import.meta.url))
    expect(folders.toSorted()).toStrictEqual([...new Set(ROUTES.map((route) => route.function))].toSorted())
  })

  it('share functions among reads alone, and stream from none of them', () => {
    const shared = ROUTES.filter((route: Route) => route.function !== route.operation)
    expect(new Set(shared.map(({ method }) => method))).toEqual(new Set(['GET']))
    expect(shared.filter(({ streams }: Route) => streams)).toEqual([])
  })

  it('have exactly the paths that models name as their endpoints', () => {
    const makers = ROUTES.filter(({ relays, operation }: Route) => relays === true || operation === 'create-video-job')
    expect(makers.map(({ path }) => path).toSorted()).toEqual(
      Object.values(MODEL_ENDPOINTS)
        .map(({ path }) => path)
        .toSorted(),
    )
  })

  it.each(Object.values(MODEL_ENDPOINTS))('$path has its prompt in a field of its body', ({ path, prompt }) => {
    const { input = '' }: Route = ROUTES.find((each) => each.path === path && each.method === 'POST') ?? ROUTES[0]
    expect(requestBodySchema(input).properties).toHaveProperty(prompt)
  })

  it.each<Route>([...ROUTES])('of the bundle of $operation are those of its function', ({ function: name }) => {
    const { files } = bundleHandler({ root: REPOSITORY_ROOT, folder: `api/${name}` })
    const atStart = files.filter(({ isLoadedAtStart }) => isLoadedAtStart).map(({ code }) => code)
    const defined = [...atStart.join('').matchAll(/operation:"([a-z-]+)",method:/g)].map(([, operation]) => operation)
    const own = ROUTES.filter((route) => route.function === name).map(({ operation }): string => operation)
    expect(defined.filter((operation) => !own.includes(operation ?? ''))).toEqual([])
  })
})

const FACTS = { operation: 'test', method: 'GET', path: '/v1/tests', output: 'Model', needs: { table: [] } } as const

describe('defineRoute', () => {
  it.each([
    ['a key', {}, [200, 400, 401, 403, 429, 500, 503]],
    ['no key', { auth: 'none' }, [200, 400]],
    ['a path parameter', { path: '/v1/tests/{id}' }, [200, 400, 401, 403, 404, 429, 500, 503]],
    ['a body and a status of its own', { input: 'Body', errors: [409] }, [200, 400, 401, 403, 409, 413, 429, 500, 503]],
    ['an upstream', { relays: true }, [200, 400, 401, 402, 403, 404, 429, 500, 502, 503, 504]],
    ['a resumed stream', { auth: 'none', isResumed: true }, [200, 204, 400]],
    ['a version', { auth: 'none', isRevalidated: true, successStatus: 201 }, [201, 304, 400]],
  ] as const)('derives the statuses of a route with %s', (_, facts, statuses) => {
    expect(declaredStatuses(defineRoute({ ...FACTS, ...facts }))).toEqual(statuses)
  })

  it('adds what the look-up of a key and its rate need, and a folder', () => {
    const { needs, function: folder } = defineRoute({ ...FACTS, needs: { table: [], signsUrls: true } })
    expect({ needs, folder }).toEqual({
      needs: {
        memoryMegabytes: 1024,
        table: [
          { actions: ['GetItem'], partitions: ['K#*'] },
          { actions: ['UpdateItem'], partitions: ['RL#*'] },
        ],
        signsUrls: true,
      },
      folder: 'test',
    })
    expect(defineRoute({ ...FACTS, auth: 'none' }).needs.table).toEqual([])
  })

  it('takes HEAD with GET where a route needs no key', () => {
    expect(methodsOf(defineRoute(FACTS))).toEqual(['GET'])
    expect(methodsOf(defineRoute({ ...FACTS, auth: 'none' }))).toEqual(['GET', 'HEAD'])
  })
})

describe('allowedMethods', () => {
  it.each([
    ['/v1/video/generations', ['GET', 'POST']],
    ['/v1/video/generations/some-id', ['DELETE', 'GET']],
    ['/v1/video/generations/some-id/more', []],
    ['/v1/models', ['GET']],
    ['/health', ['GET', 'HEAD']],
    ['/openapi.json', ['GET', 'HEAD']],
    ['/nothing', []],
  ])('of %s are %j', (path, methods) => {
    expect(allowedMethods(path).toSorted()).toStrictEqual(methods)
  })
})
