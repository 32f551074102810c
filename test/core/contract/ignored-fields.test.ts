import { describe, expect, it } from '@jest/globals'
import { ignoredHeader } from '#core/contract/ignored-fields.ts'

describe('the header that names ignored fields', () => {
  it.each([
    [[], {}],
    [['durration', 'seconds'], { 'x-reelgate-ignored': 'durration, seconds' }],
    [['messages.content.cache_control'], { 'x-reelgate-ignored': 'messages.content.cache_control' }],
    [
      ['a b', 'ſ', '\r\nx: y', '\ud800', ''],
      { 'x-reelgate-ignored': 'a%20b, %C5%BF, %0D%0Ax%3A%20y, %EF%BF%BD, %22%22' },
    ],
  ])('of %j is %j', (names, header) => {
    expect(ignoredHeader(names)).toStrictEqual(header)
  })

  it('names at most 20 fields in at most a kilobyte', () => {
    const value = (names: readonly string[]) => ignoredHeader(names)['x-reelgate-ignored'] ?? ''
    expect(value(Array.from({ length: 30 }, (_, index) => `f${index}`)).split(', ')).toHaveLength(20)
    const long = value(Array.from({ length: 20 }, (_, index) => `${index}${'ü'.repeat(20)}`))
    expect(long.length).toBeLessThanOrEqual(1024)
    expect(long.split(', ').every((name) => name.endsWith('%BC'))).toBe(true)
  })
})
