import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { ADMIN_ROUTES } from '#core/console/admin-routes.ts'

const FOLDER = join(import.meta.dirname, '../../admin-api/sign-in')

describe('operations of sign-in', () => {
  const tests = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
    .join('\n')
  const declared = ADMIN_ROUTES.filter((route) => route.function === 'sign-in').flatMap(
    ({ operation, successStatus, errorStatuses }) =>
      [successStatus, ...errorStatuses].map((status) => `${operation} ${status}`),
  )

  it.each(declared)('have a test that names "%s"', (name) => {
    expect(tests.includes(name)).toBe(true)
  })
})
