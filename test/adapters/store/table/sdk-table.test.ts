import { describe, expect, it } from 'vitest'
import { MissingEnvironmentError } from '#adapters/environment.ts'
import { createDocumentClient, openTable } from '#adapters/store/table/sdk-table.ts'

describe('the table through the SDK', () => {
  it('copies nothing for a log that nobody reads', () => {
    const names = createDocumentClient().middlewareStack.identify()
    expect(names.filter((name) => name.startsWith('logger'))).toEqual([])
    // The others are there, so a name that changed would be seen.
    expect(names.some((name) => name.startsWith('retryMiddleware'))).toBe(true)
  })

  it('needs a name', () => {
    delete process.env.TABLE_NAME
    expect(() => openTable()).toThrow(MissingEnvironmentError)
  })
})
