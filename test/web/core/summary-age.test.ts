import { expect, it } from 'vitest'
import { staleMinutes } from '#web/core/summary-age.ts'

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
