import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ADMIN_ROUTES, adminMethods, routeAdminRequest } from '#core/console/admin-routes.ts'

describe('ADMIN_ROUTES', () => {
  it('names no operation and no pair of method and path twice', () => {
    expect(new Set(ADMIN_ROUTES.map(({ operation }) => operation)).size).toBe(ADMIN_ROUTES.length)
    expect(new Set(ADMIN_ROUTES.map(({ method, path }) => `${method} ${path}`)).size).toBe(ADMIN_ROUTES.length)
  })

  it('has a file for every operation, named after it, in the folder of its function', () => {
    const folder = join(import.meta.dirname, '../../../lambdas/admin-api')
    const missing = ADMIN_ROUTES.filter((row) => !existsSync(join(folder, row.function, `${row.operation}.ts`)))
    expect(missing.map(({ operation }) => operation)).toEqual([])
  })

  it('gives only GET to the function that reads, and no other GET than those of sign-in to another', () => {
    for (const { method, function: name } of ADMIN_ROUTES.filter((route) => route.function !== 'sign-in')) {
      expect({ method, name }).toEqual({ method, name: method === 'GET' ? 'read' : 'write' })
    }
  })

  it('lets nobody change anything without the role of an owner, but for the playground', () => {
    const open = ADMIN_ROUTES.filter((route) => route.function === 'write' && route.access !== 'owner')
    expect(open.map(({ operation }) => operation)).toEqual(['create-playground-key'])
  })

  it('opens to everybody only what signs in', () => {
    const open = ADMIN_ROUTES.filter(({ access }) => access === 'public')
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
    ['GET', '/admin/v1/ledger/verification', 'verify-ledger', {}],
    ['PATCH', '/admin/v1/models/a%2Fb%201', 'change-model', { model: 'a/b 1' }],
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

describe('adminMethods', () => {
  it('names the methods of a path', () => {
    expect(adminMethods('/admin/v1/session')).toEqual(['POST', 'GET', 'DELETE'])
    expect(adminMethods('/admin/v1/nothing')).toEqual([])
  })
})
