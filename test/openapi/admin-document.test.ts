import { describe, expect, test } from '@jest/globals'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { adminDocument } from '../../lib/openapi/admin-document.ts'

const document = adminDocument()

describe('adminDocument', () => {
  test.each(ALL_ADMIN_ROUTES.map((route) => [route.operation, route] as const))(
    'describes every status, parameter and schema of %s',
    (_name, route) => {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()]
      expect(Object.keys(operation?.responses ?? {}).map(Number)).toEqual(
        [route.successStatus, ...route.errorStatuses].toSorted((left, right) => left - right),
      )
      const parameters = (operation?.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name)
      expect(parameters).toEqual([...(route.query ?? [])])
      expect(operation?.tags).toEqual([route.function])
    },
  )

  test('refers to nothing that it does not define', () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)]
    const components: Record<string, Record<string, unknown>> = { ...document.components }
    expect(references.length).toBeGreaterThan(100)
    expect(references.filter(([, kind = '', name = '']) => components[kind]?.[name] === undefined)).toEqual([])
  })

  test('takes the cookie of a session or an admin key, nothing to sign in, and no admin key for sessions and the playground', () => {
    expect(document.security).toEqual([{ session: [] }, { adminKey: [] }])
    for (const { path, method, access, function: name, needsSession } of ALL_ADMIN_ROUTES) {
      const { security, parameters = [] } = document.paths[path]?.[method.toLowerCase()] ?? {}
      const isOfSessions = name === 'sign-in' || needsSession === true
      expect([path, security]).toEqual([path, access === 'public' ? [] : isOfSessions ? [{ session: [] }] : undefined])
      const header = parameters.find((each) => each.name === 'x-reelgate-console')
      expect([path, header?.required]).toEqual([path, method === 'GET' ? undefined : isOfSessions])
    }
  })
})
