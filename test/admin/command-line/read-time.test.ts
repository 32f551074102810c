import { describe, expect, it } from 'vitest'
import { readEnd, readOverlap, readStart, readTime } from '../../../lib/cli/admin/read-options.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

describe('a duration', () => {
  it.each([
    ['0s', 0],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
  ])('%s is %i milliseconds', (text, milliseconds) => {
    expect(readOverlap(text)).toBe(milliseconds)
  })

  it.each(['', '24', 'h', '-1h', '1.5h', '24 h', '1w', '24h1m', `${'9'.repeat(30)}d`, '36526d'])(
    '%j is refused, with the name of its option',
    (text) => {
      expect(() => readOverlap(text)).toThrow(`--overlap ${text}: use a duration such as`)
    },
  )
})

describe('a time', () => {
  it.each([
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01T10:00Z', '2026-11-01T10:00:00.000Z'],
    ['2026-11-01T10:00:00.5+02:00', '2026-11-01T08:00:00.500Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(new Date(readTime('from', text)).toISOString()).toBe(iso)
  })

  it.each([
    '',
    'yesterday',
    '2026',
    '2026-11',
    '2026-11-01T10:00',
    '2026-13-01',
    '2027-02-29',
    '2026-11-31',
    '1/11/2026',
  ])('%j is refused', (text) => {
    expect(() => readTime('from', text)).toThrow(`--from ${text}: use a date`)
  })
})

describe('an end', () => {
  it('is a duration from now or a date, and lies ahead', () => {
    expect(readEnd('expires', '90d', NOW)).toBe(NOW + 90 * 86_400_000)
    expect(readEnd('expires', '2027-01-31', NOW)).toBe(Date.parse('2027-01-31T00:00:00Z'))
    for (const past of ['0s', '2026-11-21', '2020-01-01']) {
      expect(() => readEnd('expires', past, NOW)).toThrow(`--expires ${past}: use a time in the future`)
    }
    expect(() => readEnd('expires', 'soon', NOW)).toThrow('--expires soon: use a duration')
  })
})

describe('a start', () => {
  it('is a duration before now, a date or a time', () => {
    expect(readStart('since', '24h', NOW)).toBe(NOW - 86_400_000)
    expect(readStart('since', '2026-11-01', NOW)).toBe(Date.parse('2026-11-01T00:00:00Z'))
    expect(readStart('since', '36500d', NOW)).toBe(0)
    expect(() => readStart('since', 'soon', NOW)).toThrow('--since soon: use a duration such as 24h or 7d')
  })
})
