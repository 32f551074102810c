import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ADMIN_ROUTES } from '#core/console/admin-routes.ts'

const FOLDER = join(import.meta.dirname, '../../admin-api')

/** Statuses that `admin-chain.statuses.test.ts` produces for every operation that reads or writes. */
const OF_THE_CHAIN: readonly number[] = [400, 401, 403, 404, 413, 500, 503]

describe('operations of the admin API', () => {
  const tests = readdirSync(FOLDER, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
    .join('\n')
  const declared = ADMIN_ROUTES.flatMap(({ operation, path, function: name, successStatus, errorStatuses }) => {
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
