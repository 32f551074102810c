import { describe, expect, it } from 'vitest'
import { utc8Digits, utc8Time } from '../../../lib/simulators/shared/utc8-time.ts'

const NEW_YEAR = Date.UTC(2029, 11, 31, 16, 0, 0, 7)

describe('utc8-time', () => {
  it('is eight hours ahead of UTC, with milliseconds and without a zone', () => {
    expect(utc8Time(NEW_YEAR)).toBe('2030-01-01 00:00:00.007')
  })

  it('is fourteen digits in task ids', () => {
    expect(utc8Digits(NEW_YEAR)).toBe('20300101000000')
  })
})
