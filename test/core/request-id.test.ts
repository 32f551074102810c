import { describe, expect, it } from 'vitest'
import { isRequestId } from '#core/request-id.ts'

describe('isRequestId', () => {
  it.each(['a', '01998a5e-0000-7000-8000-000000000001', 'x'.repeat(128)])('takes %j', (id) => {
    expect(isRequestId(id)).toBe(true)
  })

  it.each(['', 'a b', 'a\nb', 'é', 'x'.repeat(129), 5, null, undefined])('refuses %j', (id) => {
    expect(isRequestId(id)).toBe(false)
  })
})
