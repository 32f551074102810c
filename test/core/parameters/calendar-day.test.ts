import { describe, expect, it } from 'vitest'
import { daysBefore, isDay } from '#core/parameters/calendar-day.ts'

describe('isDay', () => {
  it.each(['2026-11-01', '2024-02-29', '0001-01-01', '9999-12-31'])('accepts %s', (text) => {
    expect(isDay(text)).toBe(true)
  })

  it.each([
    '',
    '2026-11-1',
    '2026-11-31',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-11-01T00:00:00Z',
    '+002026-11-01',
    ' 2026-11-01',
    'yesterday',
  ])('refuses "%s"', (text) => {
    expect(isDay(text)).toBe(false)
  })
})

describe('daysBefore', () => {
  it.each([
    ['2026-03-01', 1, '2026-02-28'],
    ['2024-03-01', 1, '2024-02-29'],
    ['2026-01-01', 91, '2025-10-02'],
    ['2026-01-01', 0, '2026-01-01'],
    ['0000-01-03', 91, '0000-01-01'],
  ])('of %s by %i is %s', (day, count, expected) => {
    expect(daysBefore(day, count)).toBe(expected)
  })
})
