import { describe, expect, it, jest } from '@jest/globals'
import { once, RecentValues } from '#platform/cache.ts'

describe('once', () => {
  it('makes the value at the first call and returns the same one afterwards', () => {
    const make = jest.fn(() => ({}))
    const value = once(make)
    expect(make).not.toHaveBeenCalled()
    expect(value()).toBe(value())
    expect(make).toHaveBeenCalledTimes(1)
  })

  it('keeps undefined too', () => {
    const make = jest.fn(() => undefined)
    const value = once(make)
    value()
    value()
    expect(make).toHaveBeenCalledTimes(1)
  })

  it('tries again after a failure', () => {
    const make = jest.fn<() => string>().mockImplementationOnce(() => {
      throw new Error('no settings')
    })
    make.mockReturnValue('made')
    const value = once(make)
    expect(value).toThrow('no settings')
    expect(value()).toBe('made')
  })
})

function valuesOf(kept: RecentValues<number>, keys: string[]) {
  return keys.map((key) => kept.get(key))
}

describe('RecentValues', () => {
  it('are kept up to their number; the one that was used longest ago goes first', () => {
    const kept = new RecentValues<number>(2)
    kept.set('a', 1)
    kept.set('b', 2)
    expect(kept.get('a')).toBe(1)
    kept.set('c', 3)
    expect(valuesOf(kept, ['a', 'b', 'c'])).toEqual([1, undefined, 3])
  })

  it('are gone when they were deleted', () => {
    const kept = new RecentValues<number>(2)
    kept.set('a', 1)
    kept.delete('a')
    expect(valuesOf(kept, ['a'])).toEqual([undefined])
  })

  it('are replaced by a newer value of the same key, at the cost of no other', () => {
    const kept = new RecentValues<number>(2)
    kept.set('a', 1)
    kept.set('b', 2)
    kept.set('a', 3)
    expect(valuesOf(kept, ['a', 'b'])).toEqual([3, 2])
  })
})
