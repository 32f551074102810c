import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { declaredStatuses, ROUTES } from '#core/contract/routes.ts'

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
