import { describe, expect, it } from '@jest/globals'
import { progressWords } from '#web/core/progress-words.ts'
import { staleMinutes } from '#web/core/summary-age.ts'
import {
  absoluteTime,
  clockTime,
  daysBetween,
  dayTimes,
  duration,
  endOfDay,
  isoTime,
  lastDays,
  relativeTime,
  startOfDay,
} from '#web/core/time.ts'

const NOW = Date.parse('2026-11-22T22:49:10Z') / 1000

describe('time', () => {
  it.each([
    [0, 'just now'],
    [59, '59 s ago'],
    [60, '1 min ago'],
    [3599, '59 min ago'],
    [3600, '1 h ago'],
    [86_400, '1 d ago'],
    [30 * 86_400, '2026-10-23'],
    [-7200, 'in 2 h'],
  ])('%d seconds before now is "%s"', (seconds, words) => {
    expect(relativeTime(NOW - seconds, NOW, 'utc')).toBe(words)
  })

  it('writes an absolute time with its zone', () => {
    expect(absoluteTime(NOW, 'utc')).toBe('2026-11-22 22:49:10 UTC')
    expect(clockTime(NOW, 'utc')).toBe('22:49:10')
    expect(absoluteTime(NOW, 'local')).toMatch(/^2026-11-2\d \d\d:\d\d:10 UTC[+-]\d\d:\d\d$/)
  })

  it('does not fail for a time that is none', () => {
    expect(absoluteTime(Number.NaN, 'utc')).toBe('unknown')
  })

  it('writes the time of a file in ISO 8601 of UTC, and nothing for no time', () => {
    expect([isoTime(NOW), isoTime(null), isoTime(Number.NaN)]).toEqual(['2026-11-22T22:49:10.000Z', null, null])
  })

  it('ends a day where the next one begins', () => {
    expect([endOfDay('2026-12-31'), endOfDay('')]).toEqual([startOfDay('2027-01-01'), undefined])
    expect(dayTimes('2026-12-31')).toEqual({ start: '2026-12-31T00:00:00.000Z', end: '2027-01-01T00:00:00.000Z' })
    expect(dayTimes('')).toEqual({ start: undefined, end: undefined })
  })

  it('writes durations with two units at most', () => {
    expect([duration(4.24), duration(80), duration(7500)]).toEqual(['4.2 s', '1 min 20 s', '2 h 5 min'])
  })

  it('lists days of UTC, both ends included, over the change of a year', () => {
    expect(daysBetween('2026-12-31', '2027-01-02')).toEqual(['2026-12-31', '2027-01-01', '2027-01-02'])
    expect(lastDays(2, NOW)).toEqual(['2026-11-21', '2026-11-22'])
  })

  it('lists no day for an end before its start or for what is no day, and at most a year', () => {
    expect([daysBetween('2026-02-02', '2026-02-01'), daysBetween('', '2026-02-01'), daysBetween('x', 'y')]).toEqual([
      [],
      [],
      [],
    ])
    expect(daysBetween('2000-01-01', '2026-01-01')).toHaveLength(366)
    expect([startOfDay('2026-11-22'), startOfDay('22.11.2026'), startOfDay('2026-13-01')]).toEqual([
      1795305600,
      undefined,
      undefined,
    ])
  })
})

describe('summary age', () => {
  it.each([
    [null, undefined],
    [1_000_000, undefined],
    [999_700, undefined],
    [999_699, 5],
    [992_800, 120],
    [1_000_900, undefined],
  ])('staleMinutes of numbers as of %p is %p', (asOf, minutes) => {
    expect(staleMinutes(asOf, 1_000_000)).toBe(minutes)
  })
})

describe('progress words', () => {
  it.each([
    [null, null, ''],
    [40.9, null, ' 40 %'],
    [40, 12, ' 40 %, about 12 s left'],
    [91, 0, ' 91 %'],
    [5, 80, ' 5 %, about 1 min 20 s left'],
  ])('progressWords of %p percent and %p seconds are "%s"', (percent, eta_seconds, words) => {
    expect(progressWords({ percent, eta_seconds })).toBe(words)
  })
})
