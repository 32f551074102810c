import { describe, expect, it } from 'vitest'
import { retryAfterSeconds } from '#adapters/http/retry-after.ts'

const NOW = Date.parse('2026-04-20T10:00:00.400Z')

describe('retryAfterSeconds', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    [' 30 ', 30],
    ['1.2', 2],
    ['Mon, 20 Apr 2026 10:01:00 GMT', 60],
    ['Mon, 20 Apr 2026 09:00:00 GMT', 0],
    ['999999999', 3_600],
    ['Mon, 20 Apr 2046 09:00:00 GMT', 3_600],
  ])('reads %j', (header, seconds) => {
    expect(retryAfterSeconds(header, NOW)).toBe(seconds)
  })

  it.each([undefined, '', 'soon', '{}'])('is undefined for %j', (header) => {
    expect(retryAfterSeconds(header, NOW)).toBeUndefined()
  })
})
