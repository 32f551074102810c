import { describe, expect, it } from 'vitest'
import { counted } from '#web/core/plural.ts'

describe('counted', () => {
  it.each([
    [0, '0 rows'],
    [1, '1 row'],
    [2, '2 rows'],
    [20_000, '20,000 rows'],
  ])('%d is "%s"', (count, words) => {
    expect(counted(count, 'row')).toBe(words)
  })

  it('takes a plural that is no "s"', () => {
    expect([counted(1, 'reply', 'replies'), counted(2, 'reply', 'replies')]).toEqual(['1 reply', '2 replies'])
  })
})
