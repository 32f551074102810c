import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import {
  allowedMethods,
  declaredStatuses,
  errorShapeOf,
  functionFolderOf,
  matchPath,
  ROUTES,
} from '#core/api/routes.ts'

const JOB = '/v1/video/generations/{job_id}'

describe('ROUTES', () => {
  it('names no operation and no pair of method and path twice', () => {
    expect(new Set(ROUTES.map(({ operation }) => operation)).size).toBe(ROUTES.length)
    expect(new Set(ROUTES.map(({ method, path }) => `${method} ${path}`)).size).toBe(ROUTES.length)
  })

  it('has a folder for every operation, and every folder but the fallback is an operation', () => {
    const folders = readdirSync(new URL('../../../lambdas/api/', import.meta.url))
    expect(folders.toSorted()).toStrictEqual([...ROUTES.map(({ operation }) => operation), 'fallback'].toSorted())
  })

  it('shares functions among reads alone, and streams from none of them', () => {
    const shared = ROUTES.filter((route) => functionFolderOf(route).startsWith('api-shared/'))
    expect(new Set(shared.map(({ method }) => method))).toEqual(new Set(['GET']))
    expect(shared.filter((route) => 'streams' in route)).toEqual([])
  })

  it.each([
    ['POST', '/v1/video/generations', 201, [400, 401, 402]],
    ['GET', '/v1/video/generations', 200, [401]],
    ['GET', JOB, 200, [401, 404]],
    ['DELETE', JOB, 200, [401, 404]],
  ])('declares %s %s with its documented statuses', (method, path, successStatus, errorStatuses) => {
    const route = ROUTES.find((candidate) => candidate.method === method && candidate.path === path)
    expect(route?.successStatus).toBe(successStatus)
    expect(route?.errorStatuses).toEqual(expect.arrayContaining(errorStatuses))
  })
})

describe('matchPath', () => {
  it.each([
    ['/v1/video/generations', '/v1/video/generations', {}],
    [JOB, '/v1/video/generations/abc', { job_id: 'abc' }],
    [JOB, '/v1/video/generations/a%20b%2Fc', { job_id: 'a b/c' }],
    [JOB, '/v1/video/generations/%E0%A4%A', { job_id: '%E0%A4%A' }],
    [JOB, '/v1/video/generations/__proto__', { job_id: '__proto__' }],
  ])('finds %s in %s', (template, path, parameters) => {
    expect(matchPath(template, path)).toStrictEqual(parameters)
  })

  it.each([
    ['/v1/video/generations', '/v1/video/generations/'],
    ['/v1/video/generations', '/v1/video/Generations'],
    ['/v1/video/generations', 'v1/video/generations'],
    ['/v1/video/generations', '//v1/video/generations'],
    [JOB, '/v1/video/generations'],
    [JOB, '/v1/video/generations/'],
    [JOB, '/v1/video/generations/a/b'],
    [JOB, '/v2/video/generations/a'],
    [JOB, ''],
  ])('does not find %s in %j', (template, path) => {
    expect(matchPath(template, path)).toBeUndefined()
  })
})

describe('errorShapeOf', () => {
  it.each(['/v1/video', '/v1/video/', '/v1/video/generations', '/v1/video/nothing/here'])('is video for %s', (path) => {
    expect(errorShapeOf(path)).toBe('video')
  })

  it.each([
    '/',
    '',
    '/v1',
    '/v1/videos',
    '/v1/models',
    '/v1/chat/completions',
    '/V1/video/generations',
    '/x/v1/video/',
  ])('is openai for %j', (path) => {
    expect(errorShapeOf(path)).toBe('openai')
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

const TESTS = join(import.meta.dirname, '../..')

/** The source of every test over HTTP or of a handler: its titles name `<operation> <status>`. */
function testTexts(): string {
  return ['e2e', 'api', 'relay', 'relayed-routes', 'faults']
    .flatMap((folder) =>
      readdirSync(join(TESTS, folder), { recursive: true }).map((file) => join(TESTS, folder, String(file))),
    )
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
}

describe('routes', () => {
  const texts = testTexts()
  const declared = ROUTES.flatMap((route) => declaredStatuses(route).map((status) => `${route.operation} ${status}`))

  it.each(declared)('has a test that names "%s"', (name) => {
    expect(texts).toContain(name)
  })
})
