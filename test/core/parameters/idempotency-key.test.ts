import { describe, expect, it } from 'vitest'
import { readIdempotencyKey } from '#core/parameters/idempotency-key.ts'
import { issuesOf } from '../shipped-catalogue.ts'

describe('readIdempotencyKey', () => {
  it.each([undefined, ''])('takes %j for none', (header) => {
    expect(readIdempotencyKey(header)).toBeUndefined()
  })

  it.each(['a', ' a b ', 'ü', 'k'.repeat(255)])('keeps %j as it came', (header) => {
    expect(readIdempotencyKey(header)).toBe(header)
  })

  it('refuses one character more than 255', () => {
    const message = 'the Idempotency-Key header must be at most 255 characters'
    expect(issuesOf(() => readIdempotencyKey('k'.repeat(256)))).toStrictEqual([{ path: 'Idempotency-Key', message }])
  })
})
