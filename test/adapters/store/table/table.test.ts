import { describe, expect, it } from '@jest/globals'
import { createDocumentClient } from '#adapters/store/table/table.ts'

describe('the client of the table', () => {
  it('copies nothing for a log that nobody reads', () => {
    const names = createDocumentClient().middlewareStack.identify()
    expect(names.filter((name) => name.startsWith('logger'))).toEqual([])
    // The others are there, so a name that changed would be seen.
    expect(names.some((name) => name.startsWith('retryMiddleware'))).toBe(true)
  })
})
