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

  test('asks for the cookie of a session, but not to sign in', () => {
    expect(document.security).toEqual([{ session: [] }])
    const open = ALL_ADMIN_ROUTES.filter(
      ({ path, method }) => document.paths[path]?.[method.toLowerCase()]?.security !== undefined,
    )
    expect(open.map(({ access }) => access)).toEqual(open.map(() => 'public'))
    expect(open.length).toBeGreaterThan(0)
  })
})
