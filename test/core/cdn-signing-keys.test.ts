import { describe, expect, it } from '@jest/globals'
import { describeKeys, isSucceeded, keyThatSigns, neededUntil, whyKeyStays } from '#core/cdn-signing-keys.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const NOW = Date.UTC(2030, 0, 31)
/** A key of this age. */
const key = (keyPairId: string, ageMilliseconds: number) => ({ keyPairId, createdAt: NOW - ageMilliseconds })

describe('keyThatSigns', () => {
  it.each([
    ['the only key, however new', [key('A', 0)], 'A'],
    ['the old one, while the new one is not yet everywhere', [key('A', DAY), key('B', 15 * MINUTE - 1)], 'A'],
    ['the new one, once it has been there for 15 minutes', [key('A', DAY), key('B', 15 * MINUTE)], 'B'],
    ['the newest of those that are everywhere', [key('C', MINUTE), key('A', DAY), key('B', 20 * MINUTE)], 'B'],
    ['the oldest of several that are all new', [key('B', MINUTE), key('A', 2 * MINUTE)], 'A'],
    ['the same of two that were made at once, in whatever order they come', [key('B', DAY), key('A', DAY)], 'B'],
  ])('is %s', (_, keys, expected) => {
    expect(keyThatSigns(keys, NOW)?.keyPairId).toBe(expected)
    expect(keyThatSigns(keys.toReversed(), NOW)?.keyPairId).toBe(expected)
  })

  it('is none where there is none', () => {
    expect(keyThatSigns([], NOW)).toBeUndefined()
  })
})

describe('a signing key', () => {
  const keys = [key('A', 100 * DAY), key('B', 3 * DAY), key('C', MINUTE)]

  it('is needed until eight days after its successor began to sign, however old it is itself', () => {
    expect(neededUntil(keys, { keyPairId: 'A' })).toBe(NOW - 3 * DAY + 15 * MINUTE + 8 * DAY)
    expect(neededUntil(keys, { keyPairId: 'B' })).toBe(NOW - MINUTE + 15 * MINUTE + 8 * DAY)
  })

  it('that is the newest is needed without end', () => {
    expect(neededUntil(keys, { keyPairId: 'C' })).toBeUndefined()
  })

  it('is succeeded when a newer one signs, not when it signs or waits to', () => {
    expect(keys.map((each) => isSucceeded(keys, each, NOW))).toEqual([true, false, false])
    expect(keys.map((each) => isSucceeded(keys, each, NOW + 15 * MINUTE))).toEqual([true, true, false])
  })
})

describe('describeKeys', () => {
  it('tells oldest first which key signs, which only verifies, and which waits', () => {
    const keys = [key('C', MINUTE), key('A', 100 * DAY), key('B', 3 * DAY)]
    expect(describeKeys(keys, NOW).map(({ keyPairId, state }) => [keyPairId, state])).toStrictEqual([
      ['A', 'verifies'],
      ['B', 'signs'],
      ['C', 'next'],
    ])
    expect(describeKeys(keys, NOW).at(-1)).toMatchObject({ signsFrom: NOW + 14 * MINUTE, neededUntil: null })
  })

  it('shows no other field of a key', () => {
    expect(JSON.stringify(describeKeys([{ ...key('A', DAY), privateKey: 'secret' } as never], NOW))).not.toContain(
      'secret',
    )
  })
})

describe('whyKeyStays', () => {
  it('lets only a key with a signing successor go', () => {
    const keys = [key('A', 100 * DAY), key('B', 3 * DAY), key('C', MINUTE)]
    expect(whyKeyStays(keys, 'A', NOW)).toBeUndefined()
    expect(whyKeyStays(keys, 'B', NOW)).toMatch(/^the key B signs or will sign soon/)
    expect(whyKeyStays(keys, 'C', NOW)).toMatch(/^the key C signs or will sign soon/)
    expect(whyKeyStays(keys, 'D', NOW)).toBe('there is no signing key D')
  })
})
