import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { routeAdminRequest } from '#core/admin/routes.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'

describe('ALL_ADMIN_ROUTES', () => {
  it('names no operation and no pair of method and path twice', () => {
    expect(new Set(ALL_ADMIN_ROUTES.map(({ operation }) => operation)).size).toBe(ALL_ADMIN_ROUTES.length)
    expect(new Set(ALL_ADMIN_ROUTES.map(({ method, path }) => `${method} ${path}`)).size).toBe(ALL_ADMIN_ROUTES.length)
  })

  it('gives only GET to the function that reads, and no other GET than those of sign-in to another', () => {
    for (const { method, function: name } of ALL_ADMIN_ROUTES.filter((route) => route.function !== 'sign-in')) {
      expect({ method, name }).toEqual({ method, name: method === 'GET' ? 'read' : 'write' })
    }
  })

  it('lets only owners change anything, and admins of a tenant what is within it, but for the playground', () => {
    const open = ALL_ADMIN_ROUTES.filter((route) => route.function === 'write' && route.access !== 'owner')
    const [playground, ...others] = open.toSorted((left, right) => (left.access < right.access ? -1 : 1))
    expect(playground).toMatchObject({ operation: 'create-playground-key', access: 'playground' })
    expect(new Set(others.map(({ access }) => access))).toEqual(new Set(['tenant-admin']))
  })

  it('refuses admin keys only where a session of the console is needed', () => {
    const closed = ALL_ADMIN_ROUTES.filter((route) => route.needsSession === true)
    expect(closed.map(({ operation }) => operation)).toEqual(['create-playground-key'])
  })

  it('opens to everybody only what signs in', () => {
    const open = ALL_ADMIN_ROUTES.filter(({ access }) => access === 'public')
    expect(open.map(({ operation }) => operation)).toEqual([
      'get-sign-in',
      'create-session',
      'start-oidc',
      'finish-oidc',
    ])
  })
})

describe('routeAdminRequest', () => {
  it.each([
    ['GET', '/admin/v1/session', 'get-session', {}],
    ['DELETE', '/admin/v1/sessions/abc', 'end-session', { session_id: 'abc' }],
    ['GET', '/admin/v1/videos/abc', 'get-video', { job_id: 'abc' }],
    ['DELETE', '/admin/v1/sessions/a%2Fb%201', 'end-session', { session_id: 'a/b 1' }],
  ])('finds the operation of %s %s', (method, path, operation, parameters) => {
    expect(routeAdminRequest(method, path)).toMatchObject({ route: { operation }, parameters })
  })

  it.each([
    ['PUT', '/admin/v1/session'],
    ['GET', '/admin/v1/session/'],
    ['GET', '/admin/v1/Session'],
    ['GET', '/admin/v1'],
    ['GET', '/admin/v1/videos/a/b'],
  ])('finds nothing for %s %s', (method, path) => {
    expect(routeAdminRequest(method, path)).toBeUndefined()
  })
})

const FOLDER = join(import.meta.dirname, '../../admin-api')

/** Statuses that `admin-chain.statuses.test.ts` produces for every operation that reads or writes. */
const OF_THE_CHAIN: readonly number[] = [400, 401, 403, 404, 413, 429, 500, 503]

describe('operations of the admin API', () => {
  const tests = readdirSync(FOLDER, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
    .join('\n')
  const declared = ALL_ADMIN_ROUTES.flatMap(({ operation, path, function: name, successStatus, errorStatuses }) => {
    const own = errorStatuses.filter((status) => {
      const isOwn404 = status === 404 && path.includes('{')
      return name === 'sign-in' || isOwn404 || !OF_THE_CHAIN.includes(status)
    })
    return [successStatus, ...own].map((status) => `${operation} ${status}`)
  })

  it.each(declared)('have a test that names "%s"', (name) => {
    expect(tests.includes(name)).toBe(true)
  })
})
