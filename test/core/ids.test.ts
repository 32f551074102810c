import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import { v4, v7 } from 'uuid'
import { firstIdAt, isJobId, isRequestId, jobIdMilliseconds, timeOfId, timeOrderedId } from '#core/ids.ts'

describe('isJobId', () => {
  it.each([v7(), v4(), '00000000-0000-0000-0000-000000000000'])('takes %s', (id) => {
    expect(isJobId(id)).toBe(true)
  })

  it.each(['', 'x', v7().toUpperCase().replace(/^0/, 'A'), `{${v7()}}`, `${v7()}\n`, `${v7()}/x`, v7().slice(1)])(
    'does not take %j',
    (id) => {
      expect(isJobId(id)).toBe(false)
    },
  )
})

describe('jobIdMilliseconds', () => {
  it('reads when an id was made', () => {
    expect(jobIdMilliseconds('01a1fc29-ad7d-744a-be2b-91335e7ede96')).toBe(0x01a1fc29ad7d)
  })
})

describe('time-ordered ids', () => {
  const RANDOM = '5f0e8a52-93a1-4c7e-9d3b-6b1f3f2a9c11'

  test('of timeOrderedId keep the random bits and begin with the time', () => {
    const id = timeOrderedId(RANDOM, 1_795_000_000_123)
    expect(id).toBe(`${firstIdAt(1_795_000_000_123)}-7c7e-9d3b-6b1f3f2a9c11`)
    expect(timeOfId(id)).toBe(1_795_000_000_123)
  })

  test('are no other texts: timeOrderedId leaves them as they are, and timeOfId knows no time of other versions', () => {
    expect(timeOrderedId('invocation-1', 1)).toBe('invocation-1')
    expect([timeOfId('invocation-1'), timeOfId(RANDOM)]).toEqual([undefined, undefined])
  })

  test('sort as their times do, and the first id of a millisecond stands before all of its ids', () => {
    const time = fc.integer({ min: 1_600_000_000_000, max: 4_000_000_000_000 })
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), time, time, (left, right, one, other) => {
        fc.pre(one < other)
        expect(timeOrderedId(left, one) < firstIdAt(other)).toBe(true)
        expect(firstIdAt(other) < timeOrderedId(right, other)).toBe(true)
      }),
    )
  })
})

describe('isRequestId', () => {
  it.each(['a', '01998a5e-0000-7000-8000-000000000001', 'x'.repeat(128)])('takes %j', (id) => {
    expect(isRequestId(id)).toBe(true)
  })

  it.each(['', 'a b', 'a\nb', 'é', 'x'.repeat(129), 5, null, undefined])('refuses %j', (id) => {
    expect(isRequestId(id)).toBe(false)
  })
})
