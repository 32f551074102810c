import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstIdAt, timeOfId, timeOrderedId } from '#core/time-ordered-id.ts'

const RANDOM = '5f0e8a52-93a1-4c7e-9d3b-6b1f3f2a9c11'

test('timeOrderedId keeps the random bits and begins with the time', () => {
  const id = timeOrderedId(RANDOM, 1_795_000_000_123)
  expect(id).toBe(`${firstIdAt(1_795_000_000_123)}-7c7e-9d3b-6b1f3f2a9c11`)
  expect(timeOfId(id)).toBe(1_795_000_000_123)
})

test('timeOrderedId leaves what is no UUID as it is, and timeOfId knows no time of other versions', () => {
  expect(timeOrderedId('invocation-1', 1)).toBe('invocation-1')
  expect([timeOfId('invocation-1'), timeOfId(RANDOM)]).toEqual([undefined, undefined])
})

test('ids sort as their times do, and the first id of a millisecond stands before all of its ids', () => {
  const time = fc.integer({ min: 1_600_000_000_000, max: 4_000_000_000_000 })
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), time, time, (left, right, one, other) => {
      fc.pre(one < other)
      expect(timeOrderedId(left, one) < firstIdAt(other)).toBe(true)
      expect(firstIdAt(other) < timeOrderedId(right, other)).toBe(true)
    }),
  )
})
